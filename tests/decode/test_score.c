/* tests/decode/test_score.c: losses of texts and pairs, against sums over passes of single windows and sentences; what is
 * refused.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "decode/translate_case.h"

#include "options.h"
#include "rapt/score.h"

#include <math.h>

#define TEXT "abcdefgabcabdcbagfedcbaabcabdcb" /* longer than the context */

static rapt_model language_model(size_t variant)
{
    const rapt_lm_config c = lm_variant(variant);
    return case_model(lm_model(&c), case_characters());
}

static void free_language_model(rapt_model *m)
{
    rapt_lm_free(m->language.net);
    rapt_tokenizer_free(m->language.tokenizer);
}

/* -log p of labels[count] after the same number of ids, by softmax of the logits in double. */
static double nll_of(rapt_tape *t, const rapt_lm *net, const int32_t *ids, const int32_t *labels, size_t count)
{
    double nll = 0;
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *y = rapt_lm_forward(t, net, (rapt_tokens){ids, 1, count});
    assert_int_equal(rapt_tape_error(t)->code, RAPT_OK);
    for (size_t i = 0; i < count; i++) {
        const rapt_real *x = y->data + i * MODEL_VOCAB;
        double sum = 0;
        for (size_t j = 0; j < MODEL_VOCAB; j++)
            sum += exp((double)x[j]);
        nll += log(sum) - (double)x[labels[i]];
    }
    return nll;
}

static void texts_are_scored_window_by_window(void **state)
{
    (void)state;
    rapt_model m = language_model(3);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_score score, again;
    rapt_error err = {0};
    int32_t *ids;
    size_t count, context = m.language.net->config.context;
    double nll = 0;
    assert_int_equal(rapt_tokenizer_encode(m.language.tokenizer, TEXT, &ids, &count, &err), RAPT_OK);
    assert_true(count > 2 * context);
    for (size_t at = 0; at + 1 < count; at += context) {
        const size_t n = count - 1 - at < context ? count - 1 - at : context;
        nll += nll_of(t, m.language.net, ids + at, ids + at + 1, n);
    }
    assert_int_equal(rapt_score_text(&m, TEXT, strlen(TEXT), NULL, &score, &err), RAPT_OK);
    assert_int_equal(score.tokens, count - 1);
    assert_int_equal(score.bytes, strlen(TEXT) - 1);
    assert_true(fabs(score.nll - nll) < 1e-4 * nll);
    assert_true(fabs(score.loss - nll / (double)(count - 1)) < 1e-4);
    assert_true(fabs(score.perplexity - exp(score.loss)) < 1e-9 * score.perplexity);
    assert_true(fabs(score.bits_per_byte - score.nll / log(2) / (double)score.bytes) < 1e-9);
    rapt_token_file *f = rapt_token_file_from_ids(ids, count, MODEL_VOCAB, &err);
    for (int threads = 1; threads <= 3; threads++) { /* bit for bit */
        const rapt_score_options o = {SCORE_DEFAULTS, .compute.threads = threads};
        assert_int_equal(rapt_score_tokens(&m, f, &o, &again, &err), RAPT_OK);
        assert_true(again.nll == score.nll);
    }
    const rapt_score_options rounded = {SCORE_DEFAULTS, .compute.kv_cache = RAPT_TYPE_BF16};
    assert_int_equal(rapt_score_tokens(&m, f, &rounded, &again, NULL), RAPT_OK);
    assert_true(again.nll != score.nll && fabs(again.nll - score.nll) < 0.05 * score.nll);
    double each[sizeof TEXT];
    assert_int_equal(rapt_score_each(&m, f, NULL, each, &err), RAPT_OK);
    for (size_t i = 0; i + 1 < count; i++) { /* each token by what its window has before it */
        const size_t at = i / context * context;
        const double before = i > at ? nll_of(t, m.language.net, ids + at, ids + at + 1, i - at) : 0;
        const double until = nll_of(t, m.language.net, ids + at, ids + at + 1, i - at + 1);
        assert_true(fabs(each[i] + (until - before)) < 1e-4);
    }
    rapt_token_file_close(f);
    free(ids);
    rapt_tape_free(t);
    free_language_model(&m);
}

static void pairs_are_scored_by_their_targets(void **state)
{
    static const char *const sources[] = {"w1 w2 w3", "w4", "w5 w6", ""}, *const targets[] = {"w1", "w2 w3", "w4 w5 w6", "w1"};
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    rapt_error err = {0};
    rapt_score all, one;
    double nll = 0;
    rapt_pairs *p = rapt_pairs_from_lines(sources, targets, 4, &err);
    assert_int_equal(rapt_score_pairs(m, p, NULL, &all, &err), RAPT_OK);
    assert_int_equal(all.tokens, 1 + 2 + 3 + 3); /* with <eos> */
    assert_int_equal(all.skipped, 1);
    for (size_t i = 0; i < 3; i++) {
        rapt_pairs *single = rapt_pairs_from_lines(&sources[i], &targets[i], 1, &err);
        assert_int_equal(rapt_score_pairs(m, single, &SCORE(.compute.threads = 2), &one, &err), RAPT_OK);
        nll += one.nll;
        rapt_pairs_free(single);
    }
    assert_true(fabs(all.nll - nll) < 1e-4 * nll);
    rapt_pairs_free(p);
    rapt_model_free(m);
}

/* Each pair by itself, and each token by what the loss grows by when the target grows by it. */
static void pairs_are_scored_token_by_token(void **state)
{
    static const char *const sources[] = {"", "w1 w2 w3", "w4", " ", "w5 w6", "w1"};
    static const char *const targets[] = {"w1", "w1", "w2 w3", "w1", "w4 w5 w6", ""};
    static const size_t begins[] = {0, 0, 2, 2 + 3, 2 + 3, 2 + 3 + 4, 2 + 3 + 4}; /* with <eos> */
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    rapt_error err = {0};
    rapt_score all, one;
    rapt_pair_scores each, alone;
    double sum = 0;
    rapt_pairs *p = rapt_pairs_from_lines(sources, targets, 6, &err);
    assert_int_equal(rapt_score_pairs(m, p, NULL, &all, &err), RAPT_OK);
    assert_int_equal(rapt_score_each_pair(m, p, NULL, &each, &err), RAPT_OK);
    assert_int_equal(each.count, 6);
    for (size_t i = 0; i <= 6; i++)
        assert_int_equal(each.begins[i], begins[i]);
    assert_int_equal(each.begins[6], all.tokens);
    for (size_t i = 0; i < all.tokens; i++)
        sum += each.log_probs[i];
    assert_true(fabs(all.nll + sum) < 1e-5 * all.nll);
    for (size_t i = 0; i < 6; i++) {
        const size_t at = each.begins[i], count = each.begins[i + 1] - at;
        if (count == 0)
            continue;
        rapt_pairs *single = rapt_pairs_from_lines(&sources[i], &targets[i], 1, &err);
        assert_int_equal(rapt_score_pairs(m, single, NULL, &one, &err), RAPT_OK);
        assert_int_equal(rapt_score_each_pair(m, single, &SCORE(.compute.threads = 2), &alone, &err), RAPT_OK);
        assert_int_equal(one.tokens, count);
        assert_memory_equal(alone.tokens, each.tokens + at, count * sizeof *alone.tokens);
        assert_int_equal(each.tokens[at + count - 1], RAPT_SPECIAL_IDS.eos);
        double nll = 0;
        for (size_t k = 0; k < count; k++) {
            nll -= alone.log_probs[k];
            assert_true(fabs(alone.log_probs[k] - each.log_probs[at + k]) < 1e-5);
        }
        assert_true(fabs(nll - one.nll) < 1e-5 * nll);
        rapt_pair_scores_free(&alone);
        rapt_pairs_free(single);
    }
    rapt_pair_scores_free(&each);
    rapt_pairs_free(p);
    rapt_model_free(m);
}

static void pairs_that_all_have_an_empty_side(void **state)
{
    static const char *const sources[] = {"", " ", "w1"}, *const targets[] = {"w1", "w2", "\t"};
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    rapt_error err = {0};
    rapt_score score;
    rapt_pair_scores each;
    rapt_pairs *p = rapt_pairs_from_lines(sources, targets, 3, &err);
    assert_int_equal(rapt_score_each_pair(m, p, NULL, &each, &err), RAPT_OK);
    assert_int_equal(each.count, 3);
    for (size_t i = 0; i <= 3; i++)
        assert_int_equal(each.begins[i], 0);
    rapt_pair_scores_free(&each);
    assert_int_equal(rapt_score_pairs(m, p, NULL, &score, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "no pair is left to score: all 3 have an empty side");
    rapt_pairs_free(p);
    rapt_model_free(m);
}

/* w1 five times and <eos> are six tokens of a model that allows four. */
static void a_truncated_target_has_no_eos(void **state)
{
    static const char *const source = "w2", *const target = "w1 w1 w1 w1 w1";
    (void)state;
    rapt_model *m = case_translation_model(4, 2);
    rapt_error err = {0};
    rapt_pair_scores each;
    rapt_pairs *p = rapt_pairs_from_lines(&source, &target, 1, &err);
    assert_int_equal(rapt_score_each_pair(m, p, NULL, &each, &err), RAPT_OK);
    assert_int_equal(each.begins[1], 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(each.tokens[i], each.tokens[0]);
    assert_int_not_equal(each.tokens[3], RAPT_SPECIAL_IDS.eos);
    rapt_pair_scores_free(&each);
    rapt_pairs_free(p);
    rapt_model_free(m);
}

static bool stop_third(void *context)
{
    return ++*(int *)context == 3;
}

static bool stop_hundredth(void *context)
{
    return ++*(int *)context == 100;
}

static void a_score_can_be_cancelled(void **state)
{
    static const char *lines[200];
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    int asked = 0;
    rapt_score score;
    rapt_error err = {0};
    for (size_t i = 0; i < 200; i++)
        lines[i] = "w1 w2";
    rapt_pairs *p = rapt_pairs_from_lines(lines, lines, 200, &err);
    assert_int_equal(rapt_score_pairs(m, p, &SCORE(.stop = stop_third, .context = &asked), &score, &err), RAPT_ERR_INTERRUPTED);
    assert_int_equal(asked, 3);
    assert_true(score.tokens == 0 && score.nll == 0);
    asked = 0; /* fewer batches: it is asked while pairs are encoded */
    err = (rapt_error){0};
    assert_int_equal(rapt_score_pairs(m, p, &SCORE(.stop = stop_hundredth, .context = &asked), &score, &err),
                     RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the score was cancelled");
    asked = -200; /* and before the third batch */
    assert_int_equal(rapt_score_pairs(m, p, &SCORE(.stop = stop_third, .context = &asked), &score, NULL), RAPT_ERR_INTERRUPTED);
    rapt_pairs_free(p);
    rapt_model_free(m);
    asked = 2;
    rapt_model lm = language_model(3);
    err = (rapt_error){0};
    assert_int_equal(rapt_score_text(&lm, TEXT, strlen(TEXT), &SCORE(.stop = stop_third, .context = &asked), &score, &err),
                     RAPT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the score was cancelled");
    free_language_model(&lm);
}

static void what_is_refused(void **state)
{
    static const char *const line = "w1";
    (void)state;
    rapt_model m = language_model(3), *t = case_translation_model(8, 2);
    rapt_error err = {0};
    rapt_score score;
    rapt_pairs *p = rapt_pairs_from_lines(&line, &line, 1, &err);
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[]){1, 2}, 2, MODEL_VOCAB, &err);
    assert_int_equal(rapt_score_each(t, f, NULL, (double[1]){0}, NULL), RAPT_ERR_VALUE);
    rapt_token_file_close(f);
    assert_int_equal(rapt_score_text(&m, "", 0, NULL, &score, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_score_text(&m, "a", 1, NULL, &score, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_score_text(t, "ab", 2, NULL, &score, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_score_pairs(&m, p, NULL, &score, NULL), RAPT_ERR_VALUE);
    rapt_pair_scores each;
    assert_int_equal(rapt_score_each_pair(&m, p, NULL, &each, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_score_each_pair(t, p, &SCORE(.compute.threads = 1000), &each, NULL), RAPT_ERR_VALUE);
    assert_null(each.begins);
    assert_int_equal(rapt_score_text(&m, "ab", 2, &SCORE(.compute.threads = 1000), &score, &err), RAPT_ERR_VALUE);
    m.language.net->output.weight->value.data[0] = NAN;
    err = (rapt_error){0};
    assert_int_equal(rapt_score_text(&m, "ab", 2, NULL, &score, &err), RAPT_ERR_NOT_FINITE);
    assert_true(score.tokens == 0 && score.nll == 0);
    rapt_pairs_free(p);
    rapt_model_free(t);
    free_language_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_scored_window_by_window),
                                       cmocka_unit_test(pairs_are_scored_by_their_targets),
                                       cmocka_unit_test(pairs_are_scored_token_by_token),
                                       cmocka_unit_test(pairs_that_all_have_an_empty_side),
                                       cmocka_unit_test(a_truncated_target_has_no_eos),
                                       cmocka_unit_test(a_score_can_be_cancelled), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
