/* tests/decode/test_policy_translate.c: translating with the policy of a Hugging Face folder: scores against passes over whole
 * rows, forced tokens, prefixes and lengths, and that batches and threads change nothing. What the searches themselves find is
 * compared with transformers in test_policy_search.c.
 * labels: raced-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "search_case.h"
#include "translate_case.h"

#define LIMIT 8

static const rapt_search_policy PLAIN = {.given = true, .beams = 4, .length_penalty = 1, .repetition_penalty = 1};

static search_options options_of(const rapt_search_policy *p)
{
    return (search_options){.length_penalty = p->length_penalty, .no_repeat = p->no_repeat_ngram, .policy = p};
}

/* ---- scores ------------------------------------------------------------------------------------------------------- */

/* The sum of log p by the power of the length. */
static void scores_are_those_of_whole_rows(void **state)
{
    static const double penalties[] = {0.6, 1, 2, 0, -1};
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        setting s = new_setting(MODEL_VOCAB, LIMIT, 2);
        rapt_search_policy p = PLAIN;
        p.length_penalty = penalties[k];
        search_together(&s, 0, SENTENCES, 4, options_of(&p));
        for (size_t i = 0; i < SENTENCES; i++) {
            assert_int_equal(s.results[i].count, 4);
            for (size_t j = 0; j < 4; j++) {
                const search_hypothesis *h = &s.results[i].best[j];
                double log_p = log_p_of(&s, i, h->tokens, h->length);
                assert_true(h->length <= s.limits[i]);
                assert_true(h->length == s.limits[i] || h->tokens[h->length - 1] == RAPT_EOS);
                assert_true(fabs(h->log_prob - log_p) < 1e-4);
                assert_true(fabs(h->score - log_p / pow((double)h->length, penalties[k])) < 1e-4 * fmax(1, fabs(h->score)));
                assert_true(j == 0 || h->score <= h[-1].score);
            }
        }
        free_setting(&s);
    }
}

/* A prefix is given: neither its probability nor its length counts. */
static void prefixes_do_not_count(void **state)
{
    static const int32_t prefix[] = {20, 31, 7};
    (void)state;
    int32_t forced[] = {40};
    setting s = new_setting(MODEL_VOCAB, LIMIT, 1);
    rapt_search_policy p = PLAIN;
    set_prefix(&s, prefix, 3);
    p.forced_bos = (rapt_token_list){forced, 1};
    search_together(&s, 0, SENTENCES, 4, options_of(&p));
    for (size_t i = 0; i < SENTENCES; i++) {
        const search_hypothesis *h = &s.results[i].best[0];
        assert_int_equal(h->tokens[0], 40); /* the token of a target language, say, comes first */
        assert_memory_equal(h->tokens + 1, prefix, sizeof prefix);
        double log_p = log_p_of(&s, i, h->tokens, h->length) - log_p_of(&s, i, h->tokens, 4);
        assert_true(fabs(h->log_prob - log_p) < 1e-4);
        assert_true(fabs(h->score - log_p / (double)(h->length - 4)) < 1e-4);
    }
    free_setting(&s);
}

/* ---- rules -------------------------------------------------------------------------------------------------------- */

static void forced_tokens_stand_at_the_ends(void **state)
{
    (void)state;
    int32_t first[] = {40}, last[] = {RAPT_EOS}, not_first[] = {40};
    for (size_t beam = 1; beam <= 4; beam += 3) {
        setting s = new_setting(MODEL_VOCAB, LIMIT, -50); /* it does not end by itself */
        rapt_search_policy p = PLAIN;
        p.forced_bos = (rapt_token_list){first, 1};
        p.forced_eos = (rapt_token_list){last, 1};
        p.suppressed_first = (rapt_token_list){not_first, 1}; /* behind the forced token */
        search_together(&s, 0, SENTENCES, beam, options_of(&p));
        for (size_t i = 0; i < SENTENCES; i++) {
            const search_hypothesis *h = &s.results[i].best[0];
            assert_int_equal(h->tokens[0], 40);
            assert_int_not_equal(h->tokens[1], 40);
            assert_int_equal(h->length, s.limits[i]);
            assert_int_equal(h->tokens[h->length - 1], RAPT_EOS);
            double log_p = log_p_of(&s, i, h->tokens, h->length - 1) - log_p_of(&s, i, h->tokens, 1);
            assert_true(beam == 1 || fabs(h->log_prob - log_p) < 1e-4); /* forced tokens have the score 0 */
        }
        free_setting(&s);
    }
}

/* Pairs of the source do not come again. */
static void ngrams_of_the_source_do_not_come(void **state)
{
    (void)state;
    setting s = new_setting(MODEL_VOCAB, LIMIT, -50);
    rapt_search_policy p = PLAIN;
    p.encoder_no_repeat_ngram = 1;
    search_together(&s, 0, SENTENCES, 3, options_of(&p));
    for (size_t i = 0; i < SENTENCES; i++)
        for (size_t k = 0; k < s.results[i].best[0].length; k++)
            for (int32_t j = 0; j < s.lens[i]; j++)
                assert_int_not_equal(s.results[i].best[0].tokens[k], s.source[i * SOURCE + (size_t)j]);
    free_setting(&s);
}

/* ---- bits --------------------------------------------------------------------------------------------------------- */

static void sentences_alone_give_the_same_bits(void **state)
{
    static const rapt_early_stopping stopping[] = {RAPT_EARLY_STOPPING_NO, RAPT_EARLY_STOPPING_YES, RAPT_EARLY_STOPPING_NEVER};
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        setting all = new_setting(MODEL_VOCAB, LIMIT, 2), one = new_setting(MODEL_VOCAB, LIMIT, 2);
        rapt_search_policy p = PLAIN;
        p.early_stopping = stopping[k % 3];
        p.length_penalty = k < 3 ? 1 : 0.6;
        p.repetition_penalty = k % 2 ? 1.2 : 1;
        p.renormalize = k > 3;
        p.no_repeat_ngram = 2;
        const size_t beam = 1 + k;
        search_together(&all, 0, SENTENCES, beam, options_of(&p));
        for (size_t i = 0; i < SENTENCES; i++) {
            search_together(&one, i, 1, beam, options_of(&p));
            assert_int_equal(one.results[i].count, all.results[i].count);
            for (size_t j = 0; j < all.results[i].count; j++) {
                const search_hypothesis *x = &all.results[i].best[j], *y = &one.results[i].best[j];
                assert_int_equal(x->length, y->length);
                assert_memory_equal(x->tokens, y->tokens, x->length * sizeof *x->tokens);
                assert_memory_equal(&x->score, &y->score, sizeof x->score);
            }
        }
        free_setting(&all);
        free_setting(&one);
    }
}

/* ---- the translator ----------------------------------------------------------------------------------------------- */

static void same_translations(const rapt_model *m, const rapt_translate_options *o, const rapt_translation *expected)
{
    static const char *const lines[] = {"w3 w9 w4", "w1", "w7 w8 w2 w2 w11 w30", "w5 w6", "w20 w21 w22 w23"};
    rapt_error err = {0};
    rapt_translation out[5];
    assert_int_equal(rapt_translate(m, lines, 5, o, out, &err), RAPT_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(out[i].hypotheses[0].text, expected[i].hypotheses[0].text);
        assert_memory_equal(&out[i].hypotheses[0].score, &expected[i].hypotheses[0].score, sizeof(double));
    }
    rapt_translations_free(out, 5);
}

/* Its defaults are the policy's; batches and threads change nothing. */
static void translators_follow_the_model(void **state)
{
    static const char *const lines[] = {"w3 w9 w4", "w1", "w7 w8 w2 w2 w11 w30", "w5 w6", "w20 w21 w22 w23"};
    (void)state;
    rapt_error err = {0};
    rapt_translation out[5], longer;
    rapt_model *m = case_translation_model(20, 1);
    m->search = PLAIN;
    m->search.beams = 3;
    m->search.length_penalty = 0.7;
    m->search.max_length = 7;
    assert_int_equal(rapt_translate(m, lines, 5, &TRANSLATE(.tokens = true, .compute.threads = 1), out, &err),
                     RAPT_OK);
    for (size_t i = 0; i < 5; i++)
        assert_true(out[i].hypotheses[0].token_count <= 6); /* the start token counts */
    for (int threads = 1; threads <= 3; threads++)
        for (size_t batch = 1; batch <= 5; batch += 2)
            same_translations(m, &TRANSLATE(.compute.threads = threads, .batch = batch), out);
    same_translations(m, &TRANSLATE(.beam = 3, .length_penalty = 0.7, .compute.threads = 2), out);
    m->translation.net->decoder.output.bias->value.data[RAPT_EOS] -= 50;
    const rapt_translate_options long_ones = {TRANSLATE_DEFAULTS, .tokens = true, .max_ratio = 1};
    assert_int_equal(rapt_translate(m, lines, 1, &long_ones, &longer, &err), RAPT_OK);
    assert_int_equal(longer.hypotheses[0].token_count, 14); /* 4 source tokens and 10 */
    rapt_translations_free(&longer, 1);
    rapt_translations_free(out, 5);
    assert_int_equal(rapt_translate(m, lines, 5, &TRANSLATE(.n_best = 4), out, &err), RAPT_ERR_VALUE);
    rapt_model_free(m);
}

/* The options' least length takes the place of the policy's, which counts new tokens, or all with the start token. */
static void a_least_length_replaces_the_policys(void **state)
{
    static const char *const lines[] = {"w3 w9 w4"};
    static const size_t given[] = {(size_t)RAPT_AS_MODEL, 6, 0}, wanted[2][3] = {{4, 6, 0}, {3, 6, 0}};
    (void)state;
    rapt_error err = {0};
    rapt_model *m = case_translation_model(20, 1);
    m->translation.net->decoder.output.bias->value.data[RAPT_EOS] += 20; /* it ends as soon as it may */
    for (size_t beam = 1; beam <= 3; beam += 2)
        for (size_t kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < 3; i++) {
                rapt_translation out;
                m->search = PLAIN;
                m->search.beams = beam;
                m->search.min_new_tokens = kind ? 0 : 4;
                m->search.min_length = kind ? 4 : 9;
                const rapt_translate_options o = {TRANSLATE_DEFAULTS, .tokens = true, .min_length = given[i]};
                assert_int_equal(rapt_translate(m, lines, 1, &o, &out, &err), RAPT_OK);
                assert_int_equal(out.hypotheses[0].token_count, wanted[kind][i]);
                rapt_translations_free(&out, 1);
            }
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_whole_rows), cmocka_unit_test(prefixes_do_not_count),
        cmocka_unit_test(forced_tokens_stand_at_the_ends), cmocka_unit_test(ngrams_of_the_source_do_not_come),
        cmocka_unit_test(sentences_alone_give_the_same_bits), cmocka_unit_test(translators_follow_the_model),
        cmocka_unit_test(a_least_length_replaces_the_policys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
