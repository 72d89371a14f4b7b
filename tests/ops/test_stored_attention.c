/* tests/ops/test_stored_attention.c: attention to keys and values that are stored in bf16 or Q8_0 gives the bits of attention to
 * the same numbers in fp32: with every mask that has a cache, grouped queries, ragged queries, at every level with any number of
 * threads; unfused, within its bound. What storing rounds to is in tests/kernels/check_stored.c.
 * labels: not-raced levels */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "ops/attention_op.h"
#include "rapt/observe.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, HEADS = 4, KEYS = 290 }; /* more than two tiles of keys that are widened together */

typedef struct inputs {
    size_t queries, kv_heads, d, dv;
    rapt_mask mask;
    rapt_attention_scores scores;
    bool ragged; /* rows of the first example, then rows of the second: 1 and the rest */
} inputs;

static const int32_t LENS[BATCH] = {KEYS, 137};

static const inputs CASES[] = {
    {1, HEADS, 32, 32, {.causal = true, .past = KEYS - 1}, {0}, false},
    {1, 2, 40, 40, {.causal = true, .past = 50}, {0}, false},
    {5, 1, 33, 33, {.causal = true, .past = 280}, {0}, false},
    {KEYS, 2, 7, 7, {.causal = true}, {0}, false},
    {3, 2, 64, 64, {.causal = true, .past = 70, .window = 9}, {0}, false},
    {4, HEADS, 12, 20, {.valid_lens = LENS}, {0}, false},
    {6, 2, 70, 70, {.valid_lens = LENS}, {.scale = 0.3, .cap = 1.5}, true},
};

static rapt_tensor *normal(rapt_tape *t, int ndim, const size_t *shape, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(t, ndim, shape, false);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)(2 * rng_normal(key, i));
    return x;
}

/* The bytes of x [BATCH, KEYS, heads * width]; x becomes what they stand for. */
static uint8_t *store(const kernels *k, rapt_type storage, rapt_tensor *x, size_t width)
{
    const size_t rows = rapt_tensor_size(x) / width, bytes = stored_bytes(storage, width);
    uint8_t *stored = malloc(rows * bytes);
    assert_non_null(stored);
    stored_write(k, storage, rows, width, x->data, stored);
    for (size_t i = 0; i < rows; i++)
        stored_read(k, storage, width, stored + i * bytes, x->data + i * width);
    return stored;
}

static void same_bits(const rapt_tensor *a, const rapt_tensor *b)
{
    assert_memory_equal(a->data, b->data, rapt_tensor_size(a) * sizeof *a->data);
}

static void ignore(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

static void check_case(rapt_tape *t, const inputs *c, rapt_type storage)
{
    static const size_t starts[BATCH + 1] = {0, 1, 6};
    const rapt_ragged ragged = {BATCH, 5, starts};
    rapt_tape_begin(t, (rapt_pass){0});
    const size_t rows[] = {BATCH, c->queries, HEADS * c->d}, packed[] = {c->queries, HEADS * c->d};
    rapt_tensor *q = c->ragged ? normal(t, 2, packed, 1) : normal(t, 3, rows, 1);
    rapt_tensor *k = normal(t, 3, (size_t[]){BATCH, KEYS, c->kv_heads * c->d}, 2);
    rapt_tensor *v = normal(t, 3, (size_t[]){BATCH, KEYS, c->kv_heads * c->dv}, 3);
    q->ragged = c->ragged ? &ragged : NULL;
    uint8_t *k_bytes = store(t->k, storage, k, c->d), *v_bytes = store(t->k, storage, v, c->dv);
    rapt_tensor *want = rapt_op_attention(t, q, k, v,
                                          &(rapt_op_attention_options){.heads = HEADS, .mask = &c->mask, .scores = c->scores});
    rapt_tensor k_shape = *k, v_shape = *v;
    k_shape.data = v_shape.data = NULL;
    const attention_stored stored = {storage, k_bytes, v_bytes};
    rapt_tensor *got = attention_op_stored(t, q, &k_shape, &v_shape, stored,
                                           &(rapt_op_attention_options){.heads = HEADS, .mask = &c->mask, .scores = c->scores});
    assert_string_equal(rapt_tape_error(t)->message, "");
    same_bits(want, got);
    rapt_observe(t, ignore, NULL);
    const rapt_op_attention_options options = {.heads = HEADS, .mask = &c->mask, .scores = c->scores};
    rapt_tensor *unfused = attention_op_stored(t, q, &k_shape, &v_shape, stored, &options);
    rapt_observe(t, NULL, NULL);
    assert_string_equal(rapt_tape_error(t)->message, "");
    for (size_t i = 0; i < rapt_tensor_size(want); i++)
        assert_true(fabs((double)(want->data[i] - unfused->data[i])) < 1e-4);
    free(k_bytes);
    free(v_bytes);
}

static void stored_numbers_are_those_in_fp32(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (int threads = 1; threads <= 7 && kernels_of_isa(*isa, NULL); threads += 3) {
            rapt_tape *t = rapt_tape_new(&(rapt_compute){.isa = *isa, .threads = threads}, NULL);
            assert_non_null(t);
            for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
                for (rapt_type storage = RAPT_TYPE_FP32; storage <= RAPT_TYPE_Q8_0; storage++)
                    check_case(t, &CASES[i], storage);
            rapt_tape_free(t);
        }
}

static void rows_have_their_bytes(void **state)
{
    (void)state;
    assert_int_equal(stored_bytes(RAPT_TYPE_FP32, 40), 160);
    assert_int_equal(stored_bytes(RAPT_TYPE_BF16, 40), 80);
    assert_int_equal(stored_bytes(RAPT_TYPE_Q8_0, 64), 2 * 34);
    assert_int_equal(stored_bytes(RAPT_TYPE_Q8_0, 40), 34 + 2 + 8);
    assert_int_equal(stored_bytes(RAPT_TYPE_Q8_0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stored_numbers_are_those_in_fp32),
                                       cmocka_unit_test(rows_have_their_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
