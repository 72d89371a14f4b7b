/* tests/decode/test_terms.c: translations with a glossary contain its targets, whatever the threads, the batch and the level;
 * lines without a term get what they get without one; what cannot be forced is told.
 * labels: threads levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"
#include "levels.h"
#include "options.h"
#include "rapt/glossary.h"
#include "texts.h"

enum { MAX_LEN = 9, LINES = 9 };

static const char GLOSSARY[] = "w1 w2\tw30 w31\nw2\tw32\nw9\tw33 w34 w35\nw7\tw36\nw8\tzyzzyva\nw5 w6\tw37\n";

static const char *const LINE[LINES] = {
    "w1 w2 w3", "w4", "", "W9 w3 w9" /* an unknown word that is found all the same */, "w2 w2 w1 w2", "w13 w1 w13",
    "w3 w3 w3 w3 w3 w3 w3 w3 w3 w7 w3" /* two segments */, "w7 w8", "w3 w3 w3 w3 w3 w3 w3 w5 w6 w3 w3",
};
/* What the translation of each must have; "-": it has no term. */
static const char *const WANT[LINES] = {"w30 w31", "-", "-", "w33 w34 w35", "w32", "-", "w36", "w36", NULL};

static rapt_glossary *glossary(const char *text)
{
    rapt_error err = {0};
    rapt_glossary *g = rapt_glossary_parse("g.tsv", rapt_text_of(text), &err);
    if (!g)
        fail_msg("%s", err.message);
    return g;
}

static rapt_model *new_model(bool policy)
{
    rapt_model *m = case_translation_model(MAX_LEN, 2);
    if (policy)
        m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 0.7, .repetition_penalty = 1.1,
                                         .max_length = 24};
    return m;
}

static void translate(const rapt_model *m, rapt_translate_options o, rapt_translation *out)
{
    rapt_error err = {0};
    if (rapt_translate(m, LINE, LINES, &o, out, &err))
        fail_msg("%s", err.message);
}

static size_t occurrences(const char *text, const char *phrase)
{
    size_t count = 0;
    for (; (text = strstr(text, phrase)); text += strlen(phrase))
        count++;
    return count;
}

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->lacks_terms, b->lacks_terms);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->hypotheses[i].text, b->hypotheses[i].text);
        assert_memory_equal(&a->hypotheses[i].log_prob, &b->hypotheses[i].log_prob, sizeof(double));
        assert_memory_equal(&a->hypotheses[i].score, &b->hypotheses[i].score, sizeof(double));
    }
}

static void check_contains(const rapt_translation *out, const rapt_translation *without)
{
    for (size_t i = 0; i < LINES; i++) {
        if (WANT[i] && strcmp(WANT[i], "-") == 0)
            assert_same(&out[i], &without[i]);
        assert_int_equal(out[i].lacks_terms, i >= 7); /* w8's target is unknown; w5 w6 is in two segments */
        for (size_t j = 0; j < out[i].count && WANT[i]; j++)
            assert_true(strcmp(WANT[i], "-") == 0 || occurrences(out[i].hypotheses[j].text, WANT[i]) > 0);
    }
    for (size_t j = 0; j < out[3].count; j++)
        assert_true(occurrences(out[3].hypotheses[j].text, WANT[3]) >= 2);
    for (size_t j = 0; j < out[4].count; j++) {
        assert_true(occurrences(out[4].hypotheses[j].text, "w32") >= 2);
        assert_true(occurrences(out[4].hypotheses[j].text, "w30 w31") >= 1);
    }
}

static const rapt_translate_options OPTIONS[] = {
    {TRANSLATE_DEFAULTS},
    {TRANSLATE_DEFAULTS, .beam = 4, .n_best = 3, .length_penalty = 0.6, .alignment = true, .tokens = true},
    {TRANSLATE_DEFAULTS, .beam = 1, .prefix = "w20 w21"},
    {TRANSLATE_DEFAULTS, .beam = 12, .n_best = 12, .coverage_penalty = 0.5, .min_length = 4},
    {TRANSLATE_DEFAULTS, .beam = 2, .no_repeat = 4, .suppress = "w30 w32", .patience = 2},
};
static const struct {
    int threads;
    size_t batch;
} RUNS[] = {{2, 1}, {5, 4}};
#define OPTION_COUNT (sizeof OPTIONS / sizeof *OPTIONS)

/* state: a level. */
static void targets_come(void **state)
{
    const char *level = levels_wanted(state);
    rapt_glossary *g = glossary(GLOSSARY);
    for (int policy = 0; policy < 2; policy++) {
        rapt_model *m = new_model(policy);
        for (size_t i = 0; i < (policy ? 2 : OPTION_COUNT); i++) {
            rapt_translation without[LINES], want[LINES], out[LINES];
            rapt_translate_options o = OPTIONS[i];
            o.compute.threads = 1;
            translate(m, o, without);
            o.glossary = g;
            translate(m, o, want);
            check_contains(want, without);
            o.compute.isa = level;
            for (size_t j = 0; j < sizeof RUNS / sizeof *RUNS; j++) {
                o.compute.threads = RUNS[j].threads;
                o.batch = RUNS[j].batch;
                translate(m, o, out);
                for (size_t k = 0; k < LINES; k++)
                    assert_same(&out[k], &want[k]);
                rapt_translations_free(out, LINES);
            }
            rapt_translations_free(want, LINES);
            rapt_translations_free(without, LINES);
        }
        rapt_model_free(m);
    }
    rapt_glossary_free(g);
}

/* ---- runs ------------------------------------------------------------------------------------------------------------ */

static void a_run_has_its_own(void **state)
{
    rapt_error err = {0};
    rapt_translation own[LINES], other[LINES], out[LINES];
    rapt_glossary *g = glossary(GLOSSARY), *two = glossary("w4\tw38\n");
    (void)state;
    rapt_model *m = new_model(false);
    const rapt_translate_options first = {TRANSLATE_DEFAULTS, .glossary = g}, second = {TRANSLATE_DEFAULTS, .glossary = two};
    translate(m, first, own);
    translate(m, second, other);
    assert_true(occurrences(other[1].hypotheses[0].text, "w38") == 1);
    rapt_translator *t = rapt_translator_new(m, &first, &err);
    assert_non_null(t);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(LINE, LINES), LINES, out, &err), RAPT_OK);
        for (size_t i = 0; i < LINES; i++)
            assert_same(&out[i], &own[i]);
        rapt_translations_free(out, LINES);
        assert_int_equal(rapt_translator_run(t, &(rapt_translator_request){.options = &second}, TEXTS_OF(LINE, LINES), LINES, out,
                                             &err), RAPT_OK);
        for (size_t i = 0; i < LINES; i++)
            assert_same(&out[i], &other[i]);
        rapt_translations_free(out, LINES);
    }
    rapt_translations_free(own, LINES);
    rapt_translations_free(other, LINES);
    rapt_translator_free(t);
    rapt_glossary_free(g);
    rapt_glossary_free(two);
    rapt_model_free(m);
}

/* Two equal models have the translation of one; tokens in place of a text have no terms. */
static void ensembles_and_tokens(void **state)
{
    static const int32_t ids[] = {RAPT_SPECIALS + 1};
    const rapt_source_tokens tokens[] = {{ids, 1}};
    rapt_translation one[LINES], both[LINES], plain[1], of_tokens[1];
    rapt_error err = {0};
    (void)state;
    rapt_glossary *g = glossary(GLOSSARY);
    rapt_model *m = new_model(false);
    translate(m, (rapt_translate_options){TRANSLATE_DEFAULTS, .beam = 3, .glossary = g}, one);
    translate(m, (rapt_translate_options){TRANSLATE_DEFAULTS, .beam = 3, .glossary = g, .other_count = 1,
                                          .others = (const rapt_model *const[]){m}}, both);
    for (size_t i = 0; i < LINES; i++)
        assert_same(&one[i], &both[i]);
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.glossary = g), &err), *without = rapt_translator_new(m, NULL, &err);
    const rapt_translator_request request = {.tokens = tokens};
    assert_int_equal(rapt_translator_run(t, &request, NULL, 1, of_tokens, &err), RAPT_OK);
    assert_int_equal(rapt_translator_run(without, &request, NULL, 1, plain, &err), RAPT_OK);
    assert_same(of_tokens, plain);
    rapt_translations_free(of_tokens, 1);
    rapt_translations_free(plain, 1);
    rapt_translations_free(one, LINES);
    rapt_translations_free(both, LINES);
    rapt_translator_free(t);
    rapt_translator_free(without);
    rapt_glossary_free(g);
    rapt_model_free(m);
}

/* ---- what cannot be had ------------------------------------------------------------------------------------------------ */

/* Each lacks its term, and is translated as without a glossary. */
static void lacking_is_told(void **state)
{
    static const char *const lines[] = {"w1 w1", "w2 w2", "w3 w4", "w5"};
    rapt_translation out[4], plain[4];
    rapt_error err = {0};
    (void)state;
    rapt_glossary *g = glossary("w1\tw30 w31 w32\nw2\tw33 w33 w33 w33 w33 w33 w33 w33 w33 w33 w33 w33\nw3 w4\tw39 zyzzyva\n"
                                "w5\tw36 w37\n");
    rapt_model *m = new_model(false);
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .no_repeat = 2, .max_ratio = 2, .suppress = "w37"};
    rapt_translate_options with = o;
    with.glossary = g;
    assert_int_equal(rapt_translate(m, lines, 4, &o, plain, &err), RAPT_OK);
    assert_int_equal(rapt_translate(m, lines, 4, &with, out, &err), RAPT_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_true(out[i].lacks_terms);
        assert_false(plain[i].lacks_terms);
        assert_string_equal(out[i].hypotheses[0].text, plain[i].hypotheses[0].text);
    }
    rapt_translations_free(out, 4);
    rapt_translations_free(plain, 4);
    rapt_glossary_free(g);
    rapt_model_free(m);
}

static void it_needs_a_search(void **state)
{
    static const char *const lines[] = {"w1"};
    rapt_translation out[1];
    rapt_glossary *g = glossary(GLOSSARY);
    (void)state;
    rapt_model *m = new_model(false);
    const rapt_translate_options refused[] = {
        {TRANSLATE_DEFAULTS, .glossary = g, .sample = {SAMPLE_DEFAULTS, .temperature = 1}},
        {TRANSLATE_DEFAULTS, .glossary = g, .n_best = 2, .alternatives = true},
    };
    for (size_t i = 0; i < 2; i++) {
        rapt_error err = {0};
        assert_int_equal(rapt_translate(m, lines, 1, &refused[i], out, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, "a glossary needs a search: it does not go with sampling or alternatives");
    }
    rapt_glossary_free(g);
    rapt_model_free(m);
}

int main(void)
{
    struct CMUnitTest tests[LEVELS_MOST + 4] = {{0}};
    size_t count = levels_tests(tests, "targets_come", targets_come, kernels_names);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_run_has_its_own);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(ensembles_and_tokens);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(lacking_is_told);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(it_needs_a_search);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
