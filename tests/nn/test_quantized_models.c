/* tests/nn/test_quantized_models.c: models with quantized weights (q8_0, q4_0) give the same bits at every level, with any number
 * of threads, to a row alone and among others, and with a KV cache in pieces of any length.
 * labels: levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/lm_model.h"
#include "nn/pack.h"
#include "tape/tape_core.h"

enum { ROWS = 3, TIME = LM_CONTEXT };

static rapt_tape *quantized_tape(const char *isa, int threads, rapt_type type)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){threads, isa, type, NULL}, &err);
    assert_string_equal(err.message, "");
    return t;
}

/* ---- language models ------------------------------------------------------------------------------------------------ */

static void check_alone(rapt_tape *t, const rapt_lm *m, const int32_t *ids, const rapt_real *want)
{
    for (size_t i = 0; i < ROWS; i++) {
        rapt_real *one = lm_whole(t, m, ids + i * TIME, 1, TIME);
        model_same("a row alone", want + i * TIME * MODEL_VOCAB, one, TIME * MODEL_VOCAB);
        free(one);
    }
}

static void check_pieces(rapt_tape *t, const rapt_lm *m, const int32_t *ids, const rapt_real *want, size_t length)
{
    rapt_error err = {0};
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), &err);
    for (size_t first = 0; first < TIME; first += length) {
        const size_t count = length < TIME - first ? length : TIME - first;
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *got = model_copy(t, rapt_lm_step(t, m, cache, (rapt_tokens){ids + first, 1, count}, false));
        model_same("pieces", want + first * MODEL_VOCAB, got, count * MODEL_VOCAB);
        free(got);
    }
    rapt_kv_cache_free(cache);
}

/* The logits, which are returned, of one level with so many threads; compared with `want`, unless that is NULL. */
static rapt_real *check_language_model(const rapt_lm *m, const char *isa, int threads, rapt_type type,
                                       const rapt_real *want)
{
    rapt_error err = {0};
    int32_t ids[ROWS * TIME];
    model_ids(ids, ROWS * TIME, 5);
    rapt_tape *t = quantized_tape(isa, threads, type);
    packed_weights *packed = pack_lm(m, t, t->pool, false, &err);
    assert_non_null(packed);
    tape_use_packed(t, packed);
    rapt_real *got = lm_whole(t, m, ids, ROWS, TIME);
    if (want)
        model_same(isa, want, got, ROWS * TIME * MODEL_VOCAB);
    check_alone(t, m, ids, got);
    check_pieces(t, m, ids, got, 1);
    check_pieces(t, m, ids, got, 5);
    packed_weights_free(packed);
    rapt_tape_free(t);
    return got;
}

static double distance(const rapt_real *a, const rapt_real *b, size_t n)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(sum / size);
}

static void language_models_have_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < LM_VARIANTS; i += 13) {
        const rapt_lm_config c = lm_variant(i);
        int32_t ids[ROWS * TIME];
        rapt_lm *m = lm_model(&c);
        rapt_tape *exact = model_tape(NULL, 1);
        const rapt_type type = i % 2 ? RAPT_TYPE_Q4_0 : RAPT_TYPE_Q8_0;
        rapt_real *want = check_language_model(m, "scalar", 1, type, NULL);
        for (const char *const *isa = kernels_names + 1; *isa; isa++)
            if (kernels_of_isa(*isa, NULL))
                free(check_language_model(m, *isa, 1 + (int)(i + 1) % 3, type, want));
        model_ids(ids, ROWS * TIME, 5);
        rapt_real *whole = lm_whole(exact, m, ids, ROWS, TIME);
        const double far = distance(want, whole, ROWS * TIME * MODEL_VOCAB);
        assert_true(far > 1e-5 && far < (type == RAPT_TYPE_Q8_0 ? 0.05 : 0.5)); /* quantized, and not much else */
        free(want);
        free(whole);
        rapt_tape_free(exact);
        rapt_lm_free(m);
    }
}

/* ---- translators ------------------------------------------------------------------------------------------------------ */

static rapt_real *check_translator(const rapt_transformer *m, const char *isa, int threads, rapt_type type,
                                   const rapt_real *want)
{
    rapt_error err = {0};
    int32_t source[ROWS * TIME], target[ROWS * TIME];
    model_ids(source, ROWS * TIME, 3);
    model_ids(target, ROWS * TIME, 4);
    rapt_tape *t = quantized_tape(isa, threads, type);
    packed_weights *packed = pack_transformer(m, t, t->pool, &err);
    assert_non_null(packed);
    tape_use_packed(t, packed);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_real *got = model_copy(t, rapt_transformer_forward(t, m, (rapt_tokens){source, ROWS, TIME}, NULL,
                                                            (rapt_tokens){target, ROWS, TIME}));
    if (want)
        model_same(isa, want, got, ROWS * TIME * MODEL_VOCAB);
    for (size_t i = 0; i < ROWS; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_real *one = model_copy(t, rapt_transformer_forward(t, m, (rapt_tokens){source + i * TIME, 1, TIME}, NULL,
                                                                (rapt_tokens){target + i * TIME, 1, TIME}));
        model_same("a sentence alone", got + i * TIME * MODEL_VOCAB, one, TIME * MODEL_VOCAB);
        free(one);
    }
    packed_weights_free(packed);
    rapt_tape_free(t);
    return got;
}

static void translators_have_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        const rapt_transformer_config c = model_variant(i);
        rapt_error err = {0};
        rapt_transformer *m = rapt_transformer_new(&c, 7, &err);
        assert_non_null(m);
        const rapt_type type = i % 2 ? RAPT_TYPE_Q4_0 : RAPT_TYPE_Q8_0;
        rapt_real *want = check_translator(m, "scalar", 1, type, NULL);
        for (const char *const *isa = kernels_names + 1; *isa; isa++)
            if (kernels_of_isa(*isa, NULL))
                free(check_translator(m, *isa, 1 + (int)i % 3, type, want));
        free(want);
        rapt_transformer_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(language_models_have_the_same_bits),
                                       cmocka_unit_test(translators_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
