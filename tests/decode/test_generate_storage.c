/* tests/decode/test_generate_storage.c: generating with a KV cache in bf16 or Q8_0: a text and its log-probabilities are the same
 * as when all tokens are computed again with such a cache, for any division of the prompt, with any number of threads, by
 * sampling and by beam search, beyond the context; and they differ from a cache in fp32.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "options.h"

enum { TOKENS = 20 }; /* a few more than LM_CONTEXT */

static const rapt_type STORAGES[] = {RAPT_TYPE_FP32, RAPT_TYPE_BF16, RAPT_TYPE_Q8_0};

static rapt_model new_model(size_t variant)
{
    rapt_lm_config c = lm_variant(variant);
    c.embedding_std = c.tied ? 0.15 : 2;
    return case_model(lm_model(&c), case_characters());
}

static void free_model(rapt_model *m)
{
    rapt_lm_free(m->language.net);
    rapt_tokenizer_free(m->language.tokenizer);
}

static void must(rapt_code code)
{
    assert_int_equal(code, RAPT_OK);
}

/* In two parts, the first of which is seen by a run of its own that is taken back. */
static rapt_generated generate(const rapt_model *m, const char *prompt, const rapt_generate_options *o, bool in_parts)
{
    rapt_error err = {0};
    rapt_generated result;
    rapt_generator *g = rapt_generator_new(m, o, &err);
    if (!g)
        fail_msg("%s", err.message);
    const size_t first = in_parts ? 2 : strlen(prompt);
    must(rapt_generator_begin(g, prompt, first, &err));
    if (in_parts) {
        must(rapt_generator_run(g, 5, NULL, &err));
        must(rapt_generator_rewind(g, first, &err));
        must(rapt_generator_append(g, prompt + first, strlen(prompt + first), &err));
    }
    if (rapt_generator_run(g, 0, &result, &err))
        fail_msg("%s", err.message);
    rapt_generator_free(g);
    return result;
}

/* The log-probability of ids[count] after the tokens before it, of which the visible ones are computed at once. */
static double log_prob_anew(rapt_tape *t, const rapt_lm *m, rapt_type storage, const int32_t *ids, size_t count)
{
    const size_t visible = rapt_lm_visible(&m->config, count);
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m, 1);
    sizes.storage = storage;
    rapt_kv_cache *c = rapt_kv_cache_new(sizes, NULL);
    assert_non_null(c);
    rapt_tape_begin(t, (rapt_pass){0});
    const rapt_tensor *x = rapt_lm_step(t, m, c, (rapt_tokens){ids + count - visible, 1, visible}, true);
    double sum = 0;
    for (size_t i = 0; i < MODEL_VOCAB; i++)
        sum += exp((double)x->data[i]);
    rapt_kv_cache_free(c);
    return (double)x->data[ids[count]] - log(sum);
}

/* The sum of the log-probabilities of what was generated, each of which is checked where there is one. */
static double check_anew(rapt_tape *t, const rapt_model *m, rapt_type storage, const rapt_generated *got, size_t prompt)
{
    int32_t ids[64];
    double sum = 0;
    for (size_t i = 0; i < prompt; i++)
        ids[i] = (int32_t)i; /* a, b, c, ... */
    memcpy(ids + prompt, got->tokens, got->token_count * sizeof *ids);
    for (size_t i = 0; i < got->token_count; i++) {
        const double want = log_prob_anew(t, m->language.net, storage, ids, prompt + i);
        if (!isnan(got->log_probs[i]) && !(fabs(got->log_probs[i] - want) < 1e-5))
            fail_msg("token %zu: %g, not %g", i, got->log_probs[i], want);
        sum += want;
    }
    return sum;
}

static void texts_are_those_of_the_cache(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t variant = 2; variant < LM_VARIANTS; variant += 24) {
        rapt_model m = new_model(variant);
        double first[3];
        for (size_t i = 0; i < 3; i++) {
            rapt_generate_options o = {GENERATE_DEFAULTS, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .seed = 3},
                                       .max_tokens = TOKENS, .compute.threads = 1,
                                       .compute.kv_cache = STORAGES[i]};
            rapt_generated whole = generate(&m, "abcdefg", &o, false);
            o.compute.threads = 3;
            rapt_generated parts = generate(&m, "abcdefg", &o, true);
            assert_int_equal(whole.token_count, TOKENS);
            assert_memory_equal(whole.tokens, parts.tokens, TOKENS * sizeof *whole.tokens);
            assert_memory_equal(whole.log_probs, parts.log_probs, TOKENS * sizeof *whole.log_probs);
            check_anew(t, &m, STORAGES[i], &whole, strlen("abcdefg"));
            first[i] = whole.log_probs[0];
            rapt_generated_free(&whole);
            rapt_generated_free(&parts);
        }
        assert_true(first[0] != first[1] && first[1] != first[2]);
        free_model(&m);
    }
    rapt_tape_free(t);
}

static void beams_have_the_scores_of_the_cache(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t variant = 2; variant < LM_VARIANTS; variant += 24)
        for (size_t i = 0; i < 3; i++) {
            rapt_model m = new_model(variant);
            rapt_generate_options o = {GENERATE_DEFAULTS, .beam = 4, .max_tokens = 8, .compute.threads = 1,
                                       .compute.kv_cache = STORAGES[i]};
            rapt_generated one = generate(&m, "abc", &o, false);
            o.compute.threads = 3;
            rapt_generated three = generate(&m, "abc", &o, false);
            assert_int_equal(one.token_count, 8);
            assert_memory_equal(one.tokens, three.tokens, 8 * sizeof *one.tokens);
            assert_memory_equal(&one.score, &three.score, sizeof one.score);
            const double want = check_anew(t, &m, STORAGES[i], &one, 3) / 8; /* a length penalty of 1 */
            if (!(fabs(one.score - want) < 1e-5))
                fail_msg("variant %zu, storage %zu: score %g, not %g", variant, i, one.score, want);
            rapt_generated_free(&one);
            rapt_generated_free(&three);
            free_model(&m);
        }
    rapt_tape_free(t);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model m = new_model(3);
    assert_null(rapt_generator_new(&m, &GENERATE(.compute.kv_cache = (rapt_type)3), &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, "keys and values in q4_0; there are fp32, bf16 and q8_0");
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_those_of_the_cache),
                                       cmocka_unit_test(beams_have_the_scores_of_the_cache),
                                       cmocka_unit_test(numbers_that_are_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
