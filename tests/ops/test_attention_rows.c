/* tests/ops/test_attention_rows.c: attention of single queries, as examples of a batch and as rows that each attend to keys of
 * their own, has the bits of the general path, which two equal queries of an example take: under masks, with grouped queries,
 * keys and values packed before or not, without keys, at every level with any number of threads, in fp32 and bf16.
 * labels: not-raced levels arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "ops/attention_op.h"
#include "ops/attention_rows.h"
#include "tape/observe_op.h"

#include <string.h>

enum { ROWS = 7, CAPACITY = 400, PAST = 299, WINDOW = 40 };

static const int32_t KEYS[ROWS] = {1, 13, 0, 400, 16, 33, 150};

typedef struct sizes {
    size_t heads, kv_heads, d;
    rapt_attention_scores scores;
} sizes;

static const sizes CASES[] = {{4, 4, 32, {0}}, {6, 2, 20, {.scale = 0.4}}, {4, 1, 72, {0}}, {80, 16, 4, {0}}};

typedef struct operands {
    rapt_tensor *q, *twice; /* [ROWS, 1, heads * d] and [ROWS, 2, heads * d], each query twice */
    rapt_tensor *k, *v;     /* [ROWS, CAPACITY, kv_heads * d] */
} operands;

static rapt_tensor *normal(rapt_tape *t, const size_t shape[3], uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(t, 3, shape, false);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)(2 * rng_normal(key, i));
    return x;
}

static operands new_operands(rapt_tape *t, const sizes *c)
{
    const size_t width = c->heads * c->d, features = c->kv_heads * c->d;
    rapt_tape_begin(t, (rapt_pass){0});
    operands o = {.q = normal(t, (size_t[]){ROWS, 1, width}, 1), .k = normal(t, (size_t[]){ROWS, CAPACITY, features}, 2),
                  .v = normal(t, (size_t[]){ROWS, CAPACITY, features}, 3)};
    o.twice = rapt_tape_tensor(t, 3, (size_t[]){ROWS, 2, width}, false);
    for (size_t i = 0; i < 2 * ROWS; i++)
        memcpy(o.twice->data + i * width, o.q->data + i / 2 * width, width * sizeof *o.q->data);
    return o;
}

static const rapt_tensor *attend(rapt_tape *t, const sizes *c, const operands *o, rapt_tensor *q, const rapt_mask *mask)
{
    return rapt_op_attention(t, q, o->k, o->v,
                             &(rapt_op_attention_options){.heads = c->heads, .mask = mask, .scores = c->scores});
}

static void same_bits(rapt_tape *t, const rapt_tensor *got, const rapt_tensor *twice)
{
    const size_t width = rapt_tensor_features(got);
    assert_string_equal(rapt_tape_error(t)->message, "");
    for (size_t i = 0; i < ROWS; i++)
        assert_memory_equal(got->data + i * width, twice->data + 2 * i * width, width * sizeof *got->data);
}

static void check_masks(rapt_tape *t, const sizes *c, const operands *o)
{
    uint8_t some[ROWS * CAPACITY], window[ROWS * CAPACITY];
    for (size_t i = 0; i < ROWS * CAPACITY; i++) {
        some[i] = rng_uniform(4, i) < 0.6;
        window[i] = i % CAPACITY <= PAST && i % CAPACITY > PAST - WINDOW;
    }
    const rapt_mask lens = {.valid_lens = KEYS}, keep = {.keep = some}, both = {.valid_lens = KEYS, .keep = some};
    const rapt_mask near = {.causal = true, .past = PAST, .window = WINDOW}, near_kept = {.keep = window};
    same_bits(t, attend(t, c, o, o->q, NULL), attend(t, c, o, o->twice, NULL));
    same_bits(t, attend(t, c, o, o->q, &lens), attend(t, c, o, o->twice, &lens));
    same_bits(t, attend(t, c, o, o->q, &keep), attend(t, c, o, o->twice, &keep));
    same_bits(t, attend(t, c, o, o->q, &both), attend(t, c, o, o->twice, &both));
    same_bits(t, attend(t, c, o, o->q, &near), attend(t, c, o, o->twice, &near_kept));
}

/* `got` has the bits of the examples of a batch, one query each, or the two equal ones of `twice`. */
static void same_rows(rapt_tape *t, const sizes *c, const operands *o, const rapt_tensor *got)
{
    const rapt_mask lens = {.valid_lens = KEYS};
    if (t->team.gemm == &t->k->gemm) {
        same_bits(t, got, attend(t, c, o, o->twice, &lens));
        return;
    }
    const rapt_tensor *want = attend(t, c, o, o->q, &lens);
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_memory_equal(got->data, want->data, rapt_tensor_size(want) * sizeof *want->data);
}

static void check_rows(rapt_tape *t, const sizes *c, const operands *o, bool packed)
{
    const size_t features = c->kv_heads * c->d;
    attention_query of[ROWS];
    arena memory;
    arena_init(&memory, 4096);
    const attention_panels *panels = packed ? attention_panels_pack(t, &memory, o->k, o->v, c->d, KEYS) : NULL;
    for (size_t i = 0; i < ROWS; i++)
        of[i] = (attention_query){.k = o->k->data + i * CAPACITY * features, .v = o->v->data + i * CAPACITY * features,
                                  .keys = (size_t)KEYS[i], .panels = panels, .example = i};
    assert_true(attention_rows_fit(t, c->d, &c->scores));
    same_rows(t, c, o, attention_rows_forward(t, o->q, of, c->heads, c->kv_heads, &c->scores));
    arena_free(&memory);
}

static void single_queries_have_the_bits_of_several(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (int threads = 1; threads <= 7 && kernels_of_isa(*isa, NULL); threads += 3) {
            rapt_tape *t = rapt_tape_new(&(rapt_compute){.isa = *isa, .threads = threads}, NULL);
            assert_non_null(t);
            for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
                const operands o = new_operands(t, &CASES[i]);
                check_masks(t, &CASES[i], &o);
                check_rows(t, &CASES[i], &o, false);
                check_rows(t, &CASES[i], &o, true);
            }
            rapt_tape_free(t);
        }
}

static void rows_in_bf16(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (int threads = 1; threads <= 4 && kernels_of_isa(*isa, NULL); threads += 3) {
            rapt_tape *t = rapt_tape_new(&(rapt_compute){.isa = *isa, .threads = threads, .type = RAPT_TYPE_BF16}, NULL);
            assert_non_null(t);
            for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
                const operands o = new_operands(t, &CASES[i]);
                check_rows(t, &CASES[i], &o, false);
                check_rows(t, &CASES[i], &o, true);
            }
            rapt_tape_free(t);
        }
}

static const kernels_gemm *counted;
static size_t panels_packed_count;

static void count_panel(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    panels_packed_count++;
    counted->pack_b(kc, n, b, b_row, b_col, dst);
}

/* Keys and values that are packed before are not packed again: neither for a batch nor for rows. */
static void packed_once_in_bf16(void **state)
{
    (void)state;
    const sizes *c = CASES;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1, .type = RAPT_TYPE_BF16}, NULL);
    arena memory;
    attention_query of[ROWS];
    assert_non_null(t);
    kernels_gemm counting = *t->team.gemm;
    counted = t->team.gemm;
    counting.pack_b = count_panel;
    t->team.gemm = &counting;
    const operands o = new_operands(t, c);
    arena_init(&memory, 4096);
    const attention_panels *panels = attention_panels_pack(t, &memory, o.k, o.v, c->d, KEYS);
    const rapt_mask lens = {.valid_lens = KEYS};
    for (size_t i = 0; i < ROWS; i++)
        of[i] = (attention_query){o.k->data + i * CAPACITY * c->kv_heads * c->d, o.v->data + i * CAPACITY * c->kv_heads * c->d,
                                  (size_t)KEYS[i], panels, i};
    assert_true(panels_packed_count > 0);
    panels_packed_count = 0;
    const rapt_tensor *rows = attention_rows_forward(t, o.q, of, c->heads, c->kv_heads, &c->scores);
    const rapt_tensor *batch = attention_op_stored(t, o.q, o.k, o.v, (attention_stored){.panels = panels},
                                                   &(rapt_op_attention_options){.heads = c->heads, .mask = &lens});
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_int_equal(panels_packed_count, 0);
    const rapt_tensor *want = attend(t, c, &o, o.q, &lens);
    assert_true(panels_packed_count > 0);
    assert_memory_equal(rows->data, want->data, rapt_tensor_size(want) * sizeof *want->data);
    assert_memory_equal(batch->data, want->data, rapt_tensor_size(want) * sizeof *want->data);
    arena_free(&memory);
    t->team.gemm = counted;
    rapt_tape_free(t);
}

static void ignore(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

static void other_attention_does_not_fit(void **state)
{
    (void)state;
    rapt_param table = {0};
    const rapt_attention_scores plain = {0}, capped = {.cap = 2}, biased = {.bias.weight = &table}, endless = {.scale = INFINITY};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    assert_non_null(t);
    rapt_tape_begin(t, (rapt_pass){.training = true});
    assert_false(attention_rows_fit(t, 8, &plain));
    rapt_tape_begin(t, (rapt_pass){0});
    assert_true(attention_rows_fit(t, KERNELS_K_BLOCK, &plain));
    assert_false(attention_rows_fit(t, KERNELS_K_BLOCK + 1, &plain));
    assert_false(attention_rows_fit(t, 8, &capped));
    assert_false(attention_rows_fit(t, 8, &biased));
    assert_false(attention_rows_fit(t, 8, &endless));
    rapt_observe(t, ignore, NULL);
    const observe_scope outer = observe_enter(t, "attention", 0);
    assert_false(attention_rows_fit(t, 8, &plain));
    observe_leave(t, outer, &t->poison);
    rapt_observe(t, NULL, NULL);
    assert_true(attention_rows_fit(t, 8, &plain));
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    assert_false(attention_rows_fit(t, 8, &plain));
    rapt_tape_free(t);
}

/* A window that lies partly behind the keys there are. */
static void window_beyond_the_keys(void **state)
{
    (void)state;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    const rapt_mask window = {.causal = true, .past = 7, .window = 5}, last = {.keep = (uint8_t[]){0, 0, 0, 1, 1}};
    assert_non_null(t);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *q = normal(t, (size_t[]){1, 1, 8}, 1), *kv = normal(t, (size_t[]){1, 5, 8}, 2);
    const rapt_tensor *got = rapt_op_attention(t, q, kv, kv, &(rapt_op_attention_options){.heads = 1, .mask = &window});
    const rapt_tensor *want = rapt_op_attention(t, q, kv, kv, &(rapt_op_attention_options){.heads = 1, .mask = &last});
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_memory_equal(got->data, want->data, 8 * sizeof *got->data);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(single_queries_have_the_bits_of_several),
                                       cmocka_unit_test(rows_in_bf16), cmocka_unit_test(packed_once_in_bf16),
                                       cmocka_unit_test(other_attention_does_not_fit),
                                       cmocka_unit_test(window_beyond_the_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
