/* tests/ops/test_rules.c: promises of the operations that are no derivative: what is masked is zero, what is frozen has
 * no gradient, sparse gradients touch used rows only, buffers stay, dropout keeps its share, max_norm shortens rows.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/nn.h"

#include "base/rng.h"
#include "tensor/param_state.h"

#include <math.h>
#include <string.h>

typedef struct bench {
    rapt_tape *t;
    rapt_params *set;
} bench;

static int set_up(void **state)
{
    static bench b;
    b = (bench){rapt_tape_new(&(rapt_compute){.threads = 2}, NULL), rapt_params_new(5, NULL)};
    *state = &b;
    return b.t && b.set ? 0 : -1;
}

static int tear_down(void **state)
{
    bench *b = *state;
    rapt_tape_free(b->t);
    rapt_params_free(b->set);
    return 0;
}

static void begin(bench *b, bool training)
{
    rapt_tape_begin(b->t, (rapt_pass){.record = true, .training = training, .seed = 4, .step = 2});
}

static rapt_tensor *random_tensor(bench *b, int ndim, const size_t *shape, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(b->t, ndim, shape, true);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)rng_normal(key, i);
    return x;
}

static rapt_param *random_param(bench *b, const char *name, size_t rows, size_t columns)
{
    return rapt_params_add(b->set, name, 2, (size_t[]){rows, columns}, (rapt_init){RAPT_INIT_NORMAL, 1});
}

static void walk_back(bench *b, rapt_tensor *y)
{
    rapt_error err = {0};
    if (rapt_backward(b->t, rapt_op_sum(b->t, rapt_op_relu(b->t, y)), &err))
        fail_msg("%s", err.message);
}

static bool all_zero(const rapt_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] == 0))
            return false;
    return true;
}

/* ---- masks ------------------------------------------------------------------------------------------------ */

#define QUERIES 3
#define KEYS 5

static void masked_softmax_follows_the_mask(void **state)
{
    bench *b = *state;
    const int32_t lens[] = {5, 2, 0};
    uint8_t keep[3 * KEYS] = {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    begin(b, true);
    rapt_mask mask = {.valid_lens = lens, .causal = true, .past = 1, .keep = keep};
    rapt_tensor *x = random_tensor(b, 3, (size_t[]){3, QUERIES, KEYS}, 1), *p = rapt_op_masked_softmax(b->t, x, &mask);
    for (size_t i = 0; i < 3 * QUERIES; i++) {
        double sum = 0;
        size_t kept = 0;
        for (size_t j = 0; j < KEYS; j++) {
            bool seen = j < (size_t)lens[i / QUERIES] && j <= 1 + i % QUERIES && keep[i / QUERIES * KEYS + j];
            assert_true(seen ? p->data[i * KEYS + j] > 0 : p->data[i * KEYS + j] == 0);
            sum += (double)p->data[i * KEYS + j];
            kept += seen;
        }
        assert_true(fabs(sum - (kept > 0)) < 1e-6);
    }
    walk_back(b, p);
    assert_true(all_zero(x->grad + 2 * QUERIES * KEYS, QUERIES * KEYS));
}

/* Example 0 has no key at all, query 1 of example 1 none that it may see. */
static void a_query_without_keys_gives_zeros(void **state)
{
    bench *b = *state;
    const int32_t lens[] = {0, KEYS};
    uint8_t keep[2 * QUERIES * KEYS];
    const size_t d = 4, qs[] = {2, QUERIES, d}, ks[] = {2, KEYS, d};
    memset(keep, 1, sizeof keep);
    memset(keep + (QUERIES + 1) * KEYS, 0, KEYS);
    for (int record_weights = 0; record_weights < 2; record_weights++) {
        rapt_tensor *weights = NULL;
        begin(b, true);
        rapt_tensor *q = random_tensor(b, 3, qs, 1), *k = random_tensor(b, 3, ks, 2), *v = random_tensor(b, 3, ks, 3);
        rapt_mask mask = {.valid_lens = lens, .keep = keep, .keep_per_query = true};
        const rapt_op_attention_options options = {.heads = 2, .mask = &mask, .dropout = 0.1,
                                                   .capture = record_weights ? RAPT_CAPTURE_BEFORE_DROPOUT : RAPT_CAPTURE_NONE,
                                                   .weights = &weights};
        rapt_tensor *y = rapt_op_attention(b->t, q, k, v, &options);
        walk_back(b, y);
        assert_true(all_zero(y->data, (QUERIES) * d));
        assert_true(all_zero(y->data + (QUERIES + 1) * d, d));
        assert_false(all_zero(y->data + QUERIES * d, d));
        assert_true(all_zero(q->grad, QUERIES * d));
        assert_true(all_zero(q->grad + (QUERIES + 1) * d, d));
        assert_false(all_zero(q->grad + QUERIES * d, d));
        assert_true(all_zero(k->grad, KEYS * d));
        assert_true(all_zero(v->grad, KEYS * d));
        assert_int_equal(weights != NULL, record_weights);
        if (weights)
            assert_true(all_zero(weights->data, 2 * QUERIES * KEYS));
    }
}

/* ---- who gets a gradient ------------------------------------------------------------------------------------ */

static void frozen_parameters_get_none(void **state)
{
    bench *b = *state;
    rapt_ffn m;
    rapt_ffn_init(&m, b->set, "ffn.", 4, 6, 4, NULL);
    assert_int_equal(rapt_params_freeze(b->set, "*.dense1.*"), 2);
    memset(m.dense1.weight->value.grad, 0x11, 24 * sizeof(rapt_real));
    rapt_real sentinel = m.dense1.weight->value.grad[0];
    begin(b, true);
    rapt_tensor *x = random_tensor(b, 3, (size_t[]){2, 3, 4}, 1);
    walk_back(b, rapt_ffn_forward(b->t, &m, x));
    assert_true(m.dense1.weight->value.grad[0] == sentinel);
    assert_false(m.dense1.weight->value.grad_filled);
    assert_false(m.dense1.bias->value.grad_filled);
    assert_true(m.dense2.weight->value.grad_filled);
    assert_true(m.dense2.bias->value.grad_filled);
    assert_false(all_zero(x->grad, 24)); /* it passes through */
}

/* Three layers of x and y, by one call or one by one; gradients of x, y and all weights go to `to`, and y's numbers. */
static void run_layers(bench *b, rapt_param *const *w, bool together, bool keep, rapt_real *to)
{
    rapt_tape_begin(b->t, (rapt_pass){.record = true, .keep_gradients = keep});
    rapt_tensor *x = random_tensor(b, 2, (size_t[]){40, 24}, 1), *m = random_tensor(b, 2, (size_t[]){40, 24}, 2), *y[3];
    rapt_linear_args in[] = {{x, w[0], w[3]}, {m, w[1], NULL}, {m, w[2], w[3]}};
    if (together)
        rapt_op_linears(b->t, 3, in, y);
    else
        for (size_t i = 0; i < 3; i++)
            y[i] = rapt_op_linear(b->t, in[i].x, in[i].w, in[i].b, RAPT_ACTIVATION_IDENTITY);
    rapt_tensor *sum = rapt_op_add(b->t, rapt_op_add(b->t, y[0], rapt_op_relu(b->t, y[1])), y[2]);
    memcpy(to, sum->data, 40 * 16 * sizeof *to);
    walk_back(b, sum);
    memcpy(to + 40 * 16, x->grad, 40 * 24 * sizeof *to);
    memcpy(to + 40 * 40, m->grad, 40 * 24 * sizeof *to);
    for (size_t i = 0; i < 3; i++)
        memcpy(to + 40 * 64 + i * 16 * 24, w[i]->value.grad, 16 * 24 * sizeof *to);
    rapt_params_zero_grad(b->set);
}

static void layers_together_are_the_same(void **state)
{
    bench *b = *state;
    rapt_param *w[4] = {random_param(b, "wq", 16, 24), random_param(b, "wk", 16, 24), random_param(b, "wv", 16, 24),
                        rapt_params_add(b->set, "b", 1, (size_t[]){16}, (rapt_init){RAPT_INIT_NORMAL, 1})};
    rapt_real want[40 * 64 + 3 * 16 * 24], got[40 * 64 + 3 * 16 * 24];
    run_layers(b, w, false, false, want);
    assert_false(all_zero(want + 40 * 64, 3 * 16 * 24));
    for (int i = 0; i < 4; i++) {
        run_layers(b, w, i & 1, i & 2, got);
        assert_memory_equal(got, want, sizeof want);
    }
}

static void nothing_is_recorded_without_record(void **state)
{
    bench *b = *state;
    rapt_param *w = random_param(b, "w", 3, 4);
    rapt_tape_begin(b->t, (rapt_pass){.training = true});
    rapt_tensor *x = random_tensor(b, 2, (size_t[]){2, 4}, 1);
    rapt_tensor *y = rapt_op_sum(b->t, rapt_op_linear(b->t, x, w, NULL, RAPT_ACTIVATION_RELU));
    assert_false(y->requires_grad);
    rapt_backward(b->t, y, NULL);
    assert_false(w->value.grad_filled);
    assert_null(x->grad);
}

static void embed_step(bench *b, rapt_param *w, const int32_t *ids, size_t count)
{
    begin(b, true);
    rapt_tensor *y = rapt_op_embed(b->t, w, (rapt_tokens){ids, 1, count}, NULL);
    rapt_error err = {0};
    if (rapt_backward(b->t, rapt_op_sum(b->t, y), &err))
        fail_msg("%s", err.message);
}

/* The gradient of the sum is, in every feature, how often a row occurs. */
static void check_counts(const rapt_param *w, const int *counts)
{
    for (size_t i = 0; i < w->value.shape[0]; i++) {
        assert_int_equal(w->state->row_used[i], counts[i] > 0);
        for (size_t j = 0; j < w->value.shape[1]; j++)
            assert_true(w->value.grad[i * w->value.shape[1] + j] == (rapt_real)counts[i]);
    }
}

static void sparse_gradients_touch_used_rows_only(void **state)
{
    bench *b = *state;
    rapt_param *w = random_param(b, "w", 6, 3);
    rapt_param_make_sparse(b->set, w);
    embed_step(b, w, (int32_t[]){1, 4, 1, 0}, 4);
    check_counts(w, (int[]){1, 2, 0, 0, 1, 0});
    embed_step(b, w, (int32_t[]){4, 5}, 2);
    check_counts(w, (int[]){1, 2, 0, 0, 2, 1});
    rapt_params_zero_grad(b->set);
    check_counts(w, (int[]){0, 0, 0, 0, 0, 0});
    embed_step(b, w, (int32_t[]){3}, 1);
    check_counts(w, (int[]){0, 0, 0, 1, 0, 0});
}

/* A tied model multiplies by the embedding: then every row is used, and every row must be cleared. */
static void sparse_weights_can_be_multiplied_by(void **state)
{
    bench *b = *state;
    rapt_param *w = random_param(b, "w", 6, 3);
    rapt_param_make_sparse(b->set, w);
    begin(b, true);
    rapt_tensor *x = random_tensor(b, 3, (size_t[]){1, 4, 3}, 1);
    walk_back(b, rapt_op_linear(b->t, x, w, NULL, RAPT_ACTIVATION_IDENTITY));
    assert_false(all_zero(w->value.grad, 18));
    rapt_params_zero_grad(b->set);
    check_counts(w, (int[]){0, 0, 0, 0, 0, 0});
}

static void padding_gets_none_and_frequency_divides(void **state)
{
    bench *b = *state;
    static const int32_t ids[] = {2, 1, 2, 2, 0, 1};
    rapt_param *w = random_param(b, "w", 4, 3);
    rapt_embed_options o = {.has_padding = true, .padding_idx = 0, .scale_grad_by_freq = true};
    begin(b, true);
    rapt_error err = {0};
    rapt_tensor *y = rapt_op_embed(b->t, w, (rapt_tokens){ids, 2, 3}, &o);
    assert_memory_equal(y->data + 4 * 3, w->value.data, 3 * sizeof *y->data); /* padding is looked up as any row */
    assert_int_equal(rapt_backward(b->t, rapt_op_sum(b->t, y), &err), RAPT_OK);
    const double want[] = {0, 1, 1, 0};
    for (size_t i = 0; i < 12; i++)
        assert_true(fabs((double)w->value.grad[i] - want[i / 3]) < 1e-6);
}

static void buffers_never_change(void **state)
{
    bench *b = *state;
    rapt_preprocessor m;
    static const int32_t ids[] = {0, 1, 2, 3, 2, 1};
    rapt_preprocessor_init(&m, b->set, "in.", 4, 6, 9, &(rapt_preprocessor_options){.dropout = 0.1});
    rapt_real *before = rapt_params_alloc(b->set, 9 * 6, sizeof *before);
    rapt_tensor *table = &m.positions.table->value;
    memcpy(before, table->data, 9 * 6 * sizeof *before);
    assert_true(m.positions.table->buffer);
    for (int i = 0; i < 3; i++) {
        begin(b, true);
        walk_back(b, rapt_preprocess(b->t, &m, (rapt_tokens){ids, 2, 3}, 2));
        assert_true(m.embedding.weight->value.grad_filled);
        assert_false(table->grad_filled);
    }
    assert_int_equal(rapt_params_freeze(b->set, "*"), 1); /* the embedding; a buffer is not frozen, it is fixed */
    assert_memory_equal(before, table->data, 9 * 6 * sizeof *before);
    assert_int_equal(rapt_params_size(b->set), 24);
}

/* ---- dropout ------------------------------------------------------------------------------------------------ */

/* Each element is 0 or x / (1 - p); the share of zeros is p within five standard deviations. */
static void check_dropped(const rapt_tensor *x, const rapt_tensor *y, double p)
{
    size_t n = rapt_tensor_size(x), zeros = 0;
    for (size_t i = 0; i < n; i++) {
        zeros += y->data[i] == 0;
        if (y->data[i] != 0)
            assert_true(fabs((double)y->data[i] * (1 - p) - (double)x->data[i]) <= 4e-7 * fabs((double)x->data[i]));
    }
    assert_true(fabs((double)zeros / (double)n - p) < 5 * sqrt(p * (1 - p) / (double)n) + 1.0 / 65536);
}

static void dropout_keeps_its_share(void **state)
{
    static const double ps[] = {0.1, 0.5, 0.9};
    bench *b = *state;
    for (size_t i = 0; i < 3; i++) {
        begin(b, true);
        rapt_tensor *x = random_tensor(b, 3, (size_t[]){3, 50, 70}, 1);
        rapt_tensor *x4 = random_tensor(b, 4, (size_t[]){2, 3, 31, 57}, 2);
        check_dropped(x, rapt_op_dropout(b->t, x, ps[i]), ps[i]);
        check_dropped(x4, rapt_op_dropout(b->t, x4, ps[i]), ps[i]);
    }
}

static bool same_mask(const rapt_tensor *a, const rapt_tensor *b, size_t from_a, size_t from_b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((a->data[from_a + i] == 0) != (b->data[from_b + i] == 0))
            return false;
    return true;
}

static rapt_tensor *drop_at(bench *b, uint64_t seed, uint64_t step, rapt_real *copy)
{
    rapt_tape_begin(b->t, (rapt_pass){.training = true, .seed = seed, .step = step});
    rapt_tensor *y = rapt_op_dropout(b->t, random_tensor(b, 3, (size_t[]){2, 8, 16}, 1), 0.5);
    memcpy(copy, y->data, 256 * sizeof *copy);
    return y;
}

static void dropout_masks_differ(void **state)
{
    bench *b = *state;
    rapt_real first[256], again[256];
    rapt_tensor *y = drop_at(b, 1, 1, first), *second = rapt_op_dropout(b->t, random_tensor(b, 3, y->shape, 1), 0.5);
    assert_false(same_mask(y, second, 0, 0, 256));   /* the next operation */
    assert_false(same_mask(y, y, 0, 128, 128));      /* the next example */
    drop_at(b, 1, 1, again);
    assert_memory_equal(first, again, sizeof first); /* the same pass */
    drop_at(b, 1, 2, again);
    assert_memory_not_equal(first, again, sizeof first);
    drop_at(b, 2, 1, again);
    assert_memory_not_equal(first, again, sizeof first);
    begin(b, true);
    y = rapt_op_dropout(b->t, random_tensor(b, 4, (size_t[]){1, 2, 8, 16}, 1), 0.5);
    assert_false(same_mask(y, y, 0, 128, 128)); /* the next head */
}

static void dropout_rests_in_inference(void **state)
{
    bench *b = *state;
    begin(b, false);
    rapt_tensor *x = random_tensor(b, 3, (size_t[]){2, 3, 4}, 1);
    assert_ptr_equal(rapt_op_dropout(b->t, x, 0.5), x);
    begin(b, true);
    x = random_tensor(b, 3, (size_t[]){2, 3, 4}, 1);
    assert_ptr_equal(rapt_op_dropout(b->t, x, 0), x);
}

/* ---- max_norm ------------------------------------------------------------------------------------------------- */

static const rapt_real start_rows[] = {3, 4, (rapt_real)0.3, (rapt_real)0.4, -6, 8};

/* Rows (3, 4) and (-6, 8) have norms 5 and 10 for p = 2, 7 and 14 for p = 1, 4 and 8 for p = infinity. */
static void check_max_norm(bench *b, rapt_param *w, double type, double norm0, bool training)
{
    static const int32_t ids[] = {0, 1, 2, 0};
    rapt_embed_options o = {.max_norm = 2, .norm_type = type};
    memcpy(w->value.data, start_rows, sizeof start_rows);
    begin(b, training);
    rapt_tensor *y = rapt_op_embed(b->t, w, (rapt_tokens){ids, 2, 2}, &o);
    const double want[] = {6 / norm0, 8 / norm0, 0.3, 0.4, -6 / norm0, 8 / norm0, 6 / norm0, 8 / norm0};
    for (size_t i = 0; i < 8; i++)
        assert_true(fabs((double)y->data[i] - want[i]) < 1e-6);
    for (size_t i = 0; i < 6; i++) /* written back in training only */
        assert_true(fabs((double)w->value.data[i] - (training ? want[i] : (double)start_rows[i])) < 1e-6);
}

static void max_norm_shortens_rows(void **state)
{
    bench *b = *state;
    rapt_param *w = random_param(b, "w", 3, 2);
    for (int training = 0; training < 2; training++) {
        check_max_norm(b, w, 0, 5, training);
        check_max_norm(b, w, 2, 5, training);
        check_max_norm(b, w, 1, 7, training);
        check_max_norm(b, w, INFINITY, 4, training);
        check_max_norm(b, w, 3, cbrt(27 + 64), training);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(masked_softmax_follows_the_mask),
        TEST(a_query_without_keys_gives_zeros),
        TEST(frozen_parameters_get_none),
        TEST(layers_together_are_the_same),
        TEST(nothing_is_recorded_without_record),
        TEST(sparse_gradients_touch_used_rows_only),
        TEST(sparse_weights_can_be_multiplied_by),
        TEST(padding_gets_none_and_frequency_divides),
        TEST(buffers_never_change),
        TEST(dropout_keeps_its_share),
        TEST(dropout_masks_differ),
        TEST(dropout_rests_in_inference),
        TEST(max_norm_shortens_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
