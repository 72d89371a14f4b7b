/* tests/nn/test_kv_no_memory.c: KV caches of several rows whose growth fails at each of its allocations in turn: the failure is
 * reported, what is held stays as it was, rows can be selected, and growing again works. The bytes equal a cache's that has had
 * all its memory from the start. For src/nn/kv_cache.c. Linked as tests/failing.h says. */
#include "failing.h"

#include "nn/kv_cache.h"

#include <stdio.h>
#include <string.h>

enum { LAYERS = 3, ROWS = 3, FEATURES = 24, HEAD = 8, CAPACITY = 1000, PAST = 230, GROWN = 300 };

static rapt_kv_cache *new_cache(rapt_type storage, bool grows)
{
    rapt_error err = {0};
    const rapt_kv_sizes sizes = {.layers = LAYERS, .rows = ROWS, .capacity = CAPACITY, .features = FEATURES, .grows = grows,
                                 .head = HEAD, .storage = storage};
    rapt_kv_cache *c = rapt_kv_cache_new(sizes, &err);
    if (!c)
        fail_msg("%s", err.message);
    return c;
}

/* `count` positions of different numbers in every layer. */
static void append(rapt_kv_cache *c, size_t count)
{
    static rapt_real numbers[2][ROWS * CAPACITY * FEATURES];
    const size_t past = rapt_kv_cache_past(c), n = ROWS * count * FEATURES;
    for (size_t layer = 0; layer < LAYERS; layer++) {
        rapt_tensor x[2];
        for (size_t i = 0; i < 2; i++) {
            for (size_t j = 0; j < n; j++)
                numbers[i][j] = (rapt_real)((double)((j + 13 * past + 101 * layer + 57 * i) * 2654435761u % 4096) / 1024 - 2);
            x[i] = (rapt_tensor){.data = numbers[i], .ndim = 3, .shape = {ROWS, count, FEATURES}};
        }
        kv_cache_append(kernels_active(NULL), rapt_kv_cache_layer(c, layer), &x[0], &x[1], past);
    }
    rapt_kv_cache_advance(c, count);
}

/* The bytes of a row's keys, or values. */
static const uint8_t *row_of(const rapt_tensor *x, const uint8_t *stored, size_t row, size_t bytes)
{
    return (stored ? stored : (const uint8_t *)x->data) + row * x->shape[1] * bytes;
}

static void check_same(const char *when, rapt_kv_cache *a, rapt_kv_cache *b)
{
    const rapt_kv_sizes sizes = rapt_kv_cache_sizes(a);
    const size_t bytes = rapt_kv_position_bytes(&sizes) / (2 * LAYERS), held = rapt_kv_cache_past(a);
    assert_int_equal(held, rapt_kv_cache_past(b));
    assert_int_equal(rapt_kv_cache_rows(a), rapt_kv_cache_rows(b));
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t row = 0; row < rapt_kv_cache_rows(a); row++) {
            const rapt_kv *x = rapt_kv_cache_layer(a, layer), *y = rapt_kv_cache_layer(b, layer);
            if (memcmp(row_of(&x->k, x->k_stored, row, bytes), row_of(&y->k, y->k_stored, row, bytes), held * bytes) != 0 ||
                memcmp(row_of(&x->v, x->v_stored, row, bytes), row_of(&y->v, y->v_stored, row, bytes), held * bytes) != 0)
                fail_msg("%s: row %zu of layer %zu has other keys or values", when, row, layer);
        }
}

/* Rows that change places in a cycle, for which the cache has scratch memory. */
static void select_rows(rapt_kv_cache *c)
{
    rapt_kv_cache_select(c, (int32_t[ROWS]){1, 2, 0}, ROWS);
}

static void check_growth(rapt_kv_cache *c, rapt_kv_cache *whole)
{
    rapt_error err = {0};
    check_same("after growth, or its failure", c, whole);
    select_rows(c);
    select_rows(whole);
    check_same("rows are selected", c, whole);
    if (rapt_kv_cache_reserve(c, GROWN, &err) != RAPT_OK)
        fail_msg("once more: %s", err.message);
    check_same("once more", c, whole);
    append(c, GROWN - PAST);
    append(whole, GROWN - PAST);
    select_rows(c);
    select_rows(whole);
    check_same("positions behind", c, whole);
}

static void growth_fails_and_is_retried(void **state)
{
    (void)state;
    for (rapt_type storage = RAPT_TYPE_FP32; storage <= RAPT_TYPE_Q8_0; storage++) {
        char what[64];
        snprintf(what, sizeof what, "growth in storage %d", (int)storage);
        failing f = {.what = what, .at_least = LAYERS, .uncounted = true}; /* what is held stays */
        rapt_code code;
        do {
            rapt_error err = {0};
            rapt_kv_cache *c = new_cache(storage, true), *whole = new_cache(storage, false);
            append(c, PAST);
            append(whole, PAST);
            failing_arm(&f);
            code = rapt_kv_cache_reserve(c, GROWN, &err);
            failing_disarm();
            assert_int_equal(code, err.code);
            check_growth(c, whole);
            rapt_kv_cache_free(c);
            rapt_kv_cache_free(whole);
        } while (failing_again(&f, code));
    }
}

/* Its caches have no sizes yet, which a message must not tell. */
static void a_state_without_sizes(void **state)
{
    (void)state;
    failing f = {.what = "a state of decoding", .at_least = 2};
    rapt_error err;
    do {
        err = (rapt_error){0};
        failing_arm(&f);
        rapt_decoder_state *s = rapt_decoder_state_new(&err);
        rapt_decoder_state_free(s);
        failing_disarm();
        assert_int_equal(err.code, s ? RAPT_OK : RAPT_ERR_MEMORY);
        assert_string_equal(err.message, s ? "" : "out of memory for decoding");
    } while (failing_again(&f, err.code));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(growth_fails_and_is_retried), cmocka_unit_test(a_state_without_sizes)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
