/* tests/decode/test_failing_lines.c: if several lines fail, the first one's error is reported, with any threads and batches; a
 * cancelled run fails and leaves the translator usable; zeroed options equal the program's.
 * labels: raced-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

#include <pthread.h>

#define LINES 23

/* Lines of 1 to 7 words, so that batches by length have lines of several places. `bad` of them have the word w40. */
static void fill_lines(char lines[LINES][40], const char *pointers[LINES], const bool *bad)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t words = 1 + i * 5 % 7;
        lines[i][0] = '\0';
        for (size_t w = 0; w < words; w++)
            sprintf(lines[i] + strlen(lines[i]), "%sw%zu", w ? " " : "", bad[i] && w == words / 2 ? 40 : (i + w) % 30);
        pointers[i] = lines[i];
    }
}

/* A line with w40 gives numbers that are not finite. */
static rapt_model *new_model(void)
{
    rapt_model *m = case_translation_model(8, 2);
    size_t count, d = m->translation.net->config.block.d_model;
    int32_t *ids;
    assert_int_equal(rapt_tokenizer_encode(m->translation.source, "w40", &ids, &count, NULL), RAPT_OK);
    m->translation.net->encoder.input.embedding.weight->value.data[(size_t)ids[0] * d] = NAN;
    free(ids);
    return m;
}

static void the_first_lines_error_is_reported(void **state)
{
    (void)state;
    char lines[LINES][40], want[1024];
    const char *pointers[LINES];
    rapt_translation out[LINES];
    rapt_model *m = new_model();
    for (size_t first = 0; first < LINES; first += 3) {
        bool bad[LINES] = {false};
        for (size_t i = first; i < LINES; i += 2)
            bad[i] = true;
        fill_lines(lines, pointers, bad);
        snprintf(want, sizeof want, "\"%s\": the model computes what is not a finite number", lines[first]);
        for (int threads = 1; threads <= 8; threads++)
            for (size_t batch = 1; batch <= 16; batch *= 4)
                for (size_t beam = 1; beam <= 3; beam += 2) {
                    rapt_error err = {0};
                    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = beam, .batch = batch,
                                                      .compute.threads = threads};
                    assert_int_equal(rapt_translate(m, pointers, LINES, &o, out, &err), RAPT_ERR_NOT_FINITE);
                    assert_string_equal(err.message, want);
                    assert_null(out[0].hypotheses);
                }
    }
    rapt_model_free(m);
}

/* Lines that don't fail are not touched by those that do. */
static void others_are_translated(void **state)
{
    (void)state;
    char lines[LINES][40];
    const char *pointers[LINES];
    bool bad[LINES] = {[5] = true};
    rapt_translation out[LINES], one;
    rapt_model *m = new_model();
    fill_lines(lines, pointers, bad);
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 2), NULL);
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(pointers, LINES), LINES, out, NULL), RAPT_ERR_NOT_FINITE);
    pointers[5] = "w1";
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(pointers, LINES), LINES, out, NULL), RAPT_OK);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(rapt_translate(m, &pointers[i], 1, NULL, &one, NULL), RAPT_OK);
        assert_string_equal(out[i].hypotheses[0].text, one.hypotheses[0].text);
        rapt_translations_free(&one, 1);
    }
    rapt_translations_free(out, LINES);
    rapt_translator_free(t);
    rapt_model_free(m);
}

static void *cancel(void *context)
{
    rapt_translator_cancel(context);
    return NULL;
}

static void cancelled_runs(void **state)
{
    (void)state;
    char lines[LINES][40];
    const char *pointers[LINES];
    const bool bad[LINES] = {false};
    rapt_translation out[LINES];
    rapt_error err = {0};
    rapt_model *m = new_model();
    pthread_t thread;
    fill_lines(lines, pointers, bad);
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 2), NULL);
    assert_int_equal(pthread_create(&thread, NULL, cancel, t), 0);
    pthread_join(thread, NULL);
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(pointers, LINES), LINES, out, &err), RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the translation was cancelled");
    assert_null(out[0].hypotheses);
    assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(pointers, LINES), LINES, out, NULL), RAPT_OK);
    rapt_translations_free(out, LINES);
    rapt_translator_free(t);
    rapt_model_free(m);
}

/* The score by hand, of greedy search and of a beam: with prefix and <eos>. */
static void assert_score(rapt_model *m, rapt_translate_options o, double a)
{
    const char *line = "w1 w2 w3 w4";
    rapt_translation out;
    o.tokens = true;
    assert_int_equal(rapt_translate(m, &line, 1, &o, &out, NULL), RAPT_OK);
    const rapt_hypothesis *h = &out.hypotheses[0];
    double length = (double)h->token_count + 1, want = h->log_prob / pow((5 + length) / 6, a);
    assert_true(h->log_prob < 0);
    if (!(fabs(h->score - want) < 1e-12 * fabs(want)))
        fail_msg("%g, not %g", h->score, want);
    rapt_translations_free(&out, 1);
}

static void zeroed_options_are_the_defaults(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(8, 6); /* ends its translations */
    for (size_t beam = 1; beam <= 4; beam += 3) {
        assert_score(m, TRANSLATE(.beam = beam), 1);
        assert_score(m, TRANSLATE(.beam = beam, .length_penalty = 0.6), 0.6);
        assert_score(m, TRANSLATE(.beam = beam, .length_penalty = 0), 0);
    }
    assert_score(m, TRANSLATE(), 1);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_lines_error_is_reported), cmocka_unit_test(others_are_translated),
        cmocka_unit_test(cancelled_runs),                    cmocka_unit_test(zeroed_options_are_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
