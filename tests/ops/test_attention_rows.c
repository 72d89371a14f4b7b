/* tests/ops/test_attention_rows.c: rows that each attend to keys of their own get the bits of attention as examples of a batch:
 * keys packed before or not, grouped queries, rows without keys, at every level with any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "ops/attention_op.h"
#include "ops/attention_rows.h"
#include "tape/observe_op.h"

enum { ROWS = 7, HEADS = 4, CAPACITY = 400 };

static const int32_t KEYS[ROWS] = {1, 13, 0, 400, 16, 33, 150};

typedef struct sizes {
    size_t kv_heads, d;
    rapt_attention_scores scores;
} sizes;

static const sizes CASES[] = {{HEADS, 32, {0}}, {2, 20, {.scale = 0.4}}, {1, 72, {0}}};

static rapt_tensor *normal(rapt_tape *t, const size_t shape[3], uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(t, 3, shape, false);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)(2 * rng_normal(key, i));
    return x;
}

static void check_case(rapt_tape *t, const sizes *c, bool packed)
{
    const size_t features = c->kv_heads * c->d;
    attention_query of[ROWS];
    arena memory;
    arena_init(&memory, 4096);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *q = normal(t, (size_t[]){ROWS, 1, HEADS * c->d}, 1);
    rapt_tensor *k = normal(t, (size_t[]){ROWS, CAPACITY, features}, 2), *v = normal(t, (size_t[]){ROWS, CAPACITY, features}, 3);
    const attention_panels *panels = packed ? attention_panels_pack(t, &memory, k, c->d, KEYS) : NULL;
    for (size_t i = 0; i < ROWS; i++)
        of[i] = (attention_query){.k = k->data + i * CAPACITY * features, .v = v->data + i * CAPACITY * features,
                                  .keys = (size_t)KEYS[i], .panels = panels, .example = i};
    const rapt_mask mask = {.valid_lens = KEYS};
    const rapt_tensor *want = rapt_op_attention_scored(t, q, k, v, HEADS, &mask, &c->scores, 0, RAPT_CAPTURE_NONE, NULL);
    assert_true(attention_rows_fit(t, c->d, &c->scores));
    const rapt_tensor *got = attention_op_rows(t, q, of, HEADS, c->kv_heads, &c->scores);
    assert_string_equal(rapt_tape_error(t)->message, "");
    assert_memory_equal(want->data, got->data, rapt_tensor_size(want) * sizeof *want->data);
    arena_free(&memory);
}

static void rows_are_examples(void **state)
{
    (void)state;
    for (const char *const *isa = kernels_names; *isa; isa++)
        for (int threads = 1; threads <= 7 && kernels_of_isa(*isa, NULL); threads += 3) {
            rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.isa = *isa, .threads = threads}, NULL);
            assert_non_null(t);
            for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
                for (int packed = 0; packed < 2; packed++)
                    check_case(t, &CASES[i], packed);
            rapt_tape_free(t);
        }
}

static void ignore(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

static void other_attention_does_not_fit(void **state)
{
    (void)state;
    rapt_param table = {0};
    const rapt_attention_scores plain = {0}, capped = {.cap = 2}, biased = {.bias.weight = &table};
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.threads = 1}, NULL);
    rapt_tape *bf16 = rapt_tape_new(&(rapt_tape_options){.threads = 1, .precision = RAPT_PRECISION_BF16}, NULL);
    assert_non_null(t);
    assert_non_null(bf16);
    rapt_tape_begin(bf16, (rapt_pass){0});
    assert_false(attention_rows_fit(bf16, 8, &plain));
    rapt_tape_begin(t, (rapt_pass){.training = true});
    assert_false(attention_rows_fit(t, 8, &plain));
    rapt_tape_begin(t, (rapt_pass){0});
    assert_true(attention_rows_fit(t, KERNELS_K_BLOCK, &plain));
    assert_false(attention_rows_fit(t, KERNELS_K_BLOCK + 1, &plain));
    assert_false(attention_rows_fit(t, 8, &capped));
    assert_false(attention_rows_fit(t, 8, &biased));
    rapt_observe(t, ignore, NULL);
    const observe_scope outer = observe_enter(t, "attention", 0);
    assert_false(attention_rows_fit(t, 8, &plain));
    observe_leave(t, outer, &t->poison);
    rapt_observe(t, NULL, NULL);
    assert_true(attention_rows_fit(t, 8, &plain));
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    assert_false(attention_rows_fit(t, 8, &plain));
    rapt_tape_free(t);
    rapt_tape_free(bf16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_examples), cmocka_unit_test(other_attention_does_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
