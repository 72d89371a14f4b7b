/* tests/decode/test_alternatives.c: alternatives at a position against what defines them: the greedy translations of the prefix
 * with each token behind it, of the tokens that are most probable there; whatever the batch and with a policy, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = MODEL_VOCAB - RAPT_SPECIALS, BEST = 6 };

static const char *const lines[] = {"w1 w2 w3", "w4", "w9 w8 w7 w6"};

/* A translation that begins with the prefix and word number `word`. */
typedef struct continued {
    rapt_translation t;
    double first; /* log-probability of the word */
} continued;

static int by_first(const void *a, const void *b)
{
    const continued *x = a, *y = b;
    return x->first > y->first ? -1 : x->first < y->first;
}

static int by_score(const void *a, const void *b)
{
    const continued *x = a, *y = b;
    const double s = x->t.hypotheses[0].score, t = y->t.hypotheses[0].score;
    return s > t ? -1 : s < t;
}

static void each_word(const rapt_model *m, const char *line, const char *prefix, size_t at, continued all[WORDS])
{
    for (int w = 0; w < WORDS; w++) {
        char text[64];
        rapt_error err = {0};
        snprintf(text, sizeof text, "%s%sw%d", prefix, *prefix ? " " : "", w);
        const rapt_translate_options o = TRANSLATE(.beam = 1, .prefix = text, .tokens = true);
        if (rapt_translate(m, &line, 1, &o, &all[w].t, &err))
            fail_msg("%s", err.message);
        all[w].first = all[w].t.hypotheses[0].log_probs[at];
    }
}

static void check_line(const rapt_model *m, const char *line, const char *prefix, size_t at, const rapt_translation *got)
{
    static continued all[WORDS];
    each_word(m, line, prefix, at, all);
    qsort(all, WORDS, sizeof *all, by_first);
    qsort(all, BEST, sizeof *all, by_score);
    assert_int_equal(got->count, BEST);
    for (size_t n = 0; n < BEST; n++) {
        const rapt_hypothesis *a = &got->hypotheses[n], *b = &all[n].t.hypotheses[0];
        assert_string_equal(a->text, b->text);
        assert_memory_equal(&a->score, &b->score, sizeof a->score);
        assert_memory_equal(&a->log_prob, &b->log_prob, sizeof a->log_prob);
    }
    for (size_t w = 0; w < WORDS; w++)
        rapt_translations_free(&all[w].t, 1);
}

/* The bias keeps <eos> from being an alternative itself, and <unk>, <pad> and <bos>, which no prefix can have. The max length of
 * its translations does not depend on the prefix. */
static rapt_model *speaking_model(void)
{
    rapt_model *m = case_translation_model(12, -2);
    m->translation.pad_to_max = true;
    for (int id = 0; id < RAPT_EOS; id++)
        m->translation.net->decoder.output.bias->value.data[id] -= 30;
    return m;
}

static void alternatives_are_greedy_translations(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"", "w5", "w5 w11 w2"};
    static const size_t at[] = {0, 1, 3};
    rapt_model *m = speaking_model();
    for (size_t k = 0; k < 3; k++)
        for (size_t batch = 1; batch <= 3; batch += 2) {
            rapt_translation out[3];
            rapt_error err = {0};
            const rapt_translate_options o = TRANSLATE(.alternatives = true, .n_best = BEST, .batch = batch,
                                                       .prefix = k ? prefixes[k] : NULL);
            if (rapt_translate(m, lines, 3, &o, out, &err))
                fail_msg("%s", err.message);
            for (size_t i = 0; i < 3; i++)
                check_line(m, lines[i], prefixes[k], at[k], &out[i]);
            rapt_translations_free(out, 3);
        }
    rapt_model_free(m);
}

/* An alternative that ends at once counts among them, and with one there is the greedy translation alone. */
static void an_end_is_an_alternative(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(12, 4);
    rapt_translation out[3], greedy[3];
    rapt_translate_options o = TRANSLATE(.alternatives = true, .n_best = 3);
    assert_int_equal(rapt_translate(m, lines, 3, &o, out, NULL), RAPT_OK);
    size_t empty = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(out[i].count, 3);
        for (size_t n = 0; n < 3; n++)
            empty += !*out[i].hypotheses[n].text;
    }
    assert_int_equal(empty, 3);
    rapt_translations_free(out, 3);
    o.n_best = 1;
    assert_int_equal(rapt_translate(m, lines, 3, &o, out, NULL), RAPT_OK);
    assert_int_equal(rapt_translate(m, lines, 3, NULL, greedy, NULL), RAPT_OK);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(out[i].hypotheses[0].text, greedy[i].hypotheses[0].text);
    rapt_translations_free(out, 3);
    rapt_translations_free(greedy, 3);
    m->search = (rapt_search_policy){.given = true, .beams = 4, .length_penalty = 1, .repetition_penalty = 1.1};
    o.n_best = 5;
    assert_int_equal(rapt_translate(m, lines, 3, &o, out, NULL), RAPT_OK);
    assert_int_equal(out[0].count, 5);
    rapt_translations_free(out, 3);
    int32_t bos = 9; /* w5: the alternatives come behind it */
    m->search.forced_bos = (rapt_token_list){&bos, 1};
    assert_int_equal(rapt_translate(m, lines, 3, &o, out, NULL), RAPT_OK);
    assert_int_equal(out[0].count, 5);
    for (size_t n = 0; n < 5; n++) {
        assert_int_equal(strncmp(out[0].hypotheses[n].text, "w5", 2), 0);
        assert_true(n == 0 || strcmp(out[0].hypotheses[n].text, out[0].hypotheses[n - 1].text) != 0);
    }
    m->search.forced_bos = (rapt_token_list){0};
    rapt_translations_free(out, 3);
    rapt_model_free(m);
}

static void what_is_refused(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_translation out;
    rapt_model *m = case_translation_model(12, 0);
    const rapt_translate_options wide = TRANSLATE(.alternatives = true, .n_best = 2, .beam = 4);
    const rapt_translate_options drawn = TRANSLATE(.alternatives = true, .n_best = 1, .sample = {SAMPLE_DEFAULTS, .top_k = 3});
    assert_int_equal(rapt_translate(m, lines, 1, &wide, &out, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "alternatives are continued greedily, 2 of them: not with a beam of 4"));
    assert_int_equal(rapt_translate(m, lines, 1, &drawn, &out, NULL), RAPT_ERR_VALUE);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alternatives_are_greedy_translations),
                                       cmocka_unit_test(an_end_is_an_alternative), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
