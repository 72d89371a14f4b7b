/* tests/ops/test_arithmetic.c: what the operations for models written by hand compute, each against its definition in double
 * precision: shapes, order of elements, values; and the book's additive attention, written with them. double_gradcheck.c checks
 * gradients, test_bits.c bits.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/nn.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static int set_up(void **state)
{
    *state = rapt_tape_new(&(rapt_compute){.threads = 2}, NULL);
    if (*state)
        rapt_tape_begin(*state, (rapt_pass){.record = true});
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    rapt_tape_free(*state);
    return 0;
}

static rapt_tensor *draw(rapt_tape *t, int ndim, const size_t *shape, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(t, ndim, shape, true);
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        x->data[i] = (rapt_real)(3 * rng_normal(key, i));
    return x;
}

static void assert_shape(const rapt_tape *t, const rapt_tensor *x, int ndim, const size_t *shape)
{
    if (rapt_tape_error(t)->code)
        fail_msg("%s", rapt_tape_error(t)->message);
    assert_int_equal(x->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(x->shape[i], shape[i]);
}

/* Within `ulps` of the last bits of the number that was asked for, or of `of`, where terms cancel. */
static void assert_near(double got, double want, double of, double ulps)
{
    if (!(fabs(got - want) <= ulps * ldexp(fmax(fabs(want), of), -24)))
        fail_msg("%.9g instead of %.9g", got, want);
}

static void test_functions(void **state)
{
    rapt_tape *t = *state;
    rapt_tensor *x = draw(t, 2, (size_t[]){37, 41}, 1);
    x->data[0] = 0, x->data[1] = 1, x->data[2] = -90, x->data[3] = 100;
    const rapt_tensor *e = rapt_op_exp(t, x), *tanh_x = rapt_op_tanh(t, x), *log_x = rapt_op_log(t, x);
    assert_shape(t, log_x, 2, (size_t[]){37, 41});
    for (size_t i = 0; i < rapt_tensor_size(x); i++) {
        const double v = (double)x->data[i];
        if (v == 100)
            assert_true(isinf(e->data[i]));
        else if (v > -87) /* below, results are flushed to 0 */
            assert_near((double)e->data[i], exp(v), 0, 3);
        else
            assert_true(e->data[i] == 0);
        assert_near((double)tanh_x->data[i], tanh(v), 0, 8);
        if (v < 0)
            assert_true(isnan(log_x->data[i]));
        else if (v == 0)
            assert_true(isinf(log_x->data[i]) && log_x->data[i] < 0);
        else
            assert_near((double)log_x->data[i], log(v), 0, 2);
    }
}

static void test_sums(void **state)
{
    rapt_tape *t = *state;
    const size_t shape[] = {3, 5, 7};
    rapt_tensor *x = draw(t, 3, shape, 2);
    for (int axis = 0; axis < 3; axis++) {
        const size_t left[2] = {shape[axis == 0], shape[axis == 2 ? 1 : 2]};
        const rapt_tensor *sum = rapt_op_sum_axis(t, x, axis), *same = rapt_op_sum_axis(t, x, axis - 3);
        const rapt_tensor *mean = rapt_op_mean_axis(t, x, axis);
        assert_shape(t, sum, 2, left);
        assert_shape(t, mean, 2, left);
        double want[35] = {0}, size[35] = {0};
        for (size_t i = 0; i < rapt_tensor_size(x); i++) {
            const size_t at[] = {i / 35, i / 7 % 5, i % 7}, to = at[axis == 0] * left[1] + at[axis == 2 ? 1 : 2];
            want[to] += (double)x->data[i];
            size[to] += fabs((double)x->data[i]);
        }
        for (size_t i = 0; i < left[0] * left[1]; i++) {
            assert_near((double)sum->data[i], want[i], size[i], 8);
            assert_near((double)mean->data[i], want[i] / (double)shape[axis], size[i] / (double)shape[axis], 9);
            assert_true(sum->data[i] == same->data[i]);
        }
    }
    assert_shape(t, rapt_op_sum_axis(t, draw(t, 1, (size_t[]){9}, 3), 0), 1, (size_t[]){1});
}

static void test_orders(void **state)
{
    rapt_tape *t = *state;
    rapt_tensor *x = draw(t, 4, (size_t[]){2, 3, 5, 7}, 4);
    const rapt_tensor *y = rapt_op_permute(t, x, (int[]){2, 0, -1, 1}), *z = rapt_op_transpose(t, x, 1, -1);
    assert_shape(t, y, 4, (size_t[]){5, 2, 7, 3});
    assert_shape(t, z, 4, (size_t[]){2, 7, 5, 3});
    for (size_t i = 0; i < rapt_tensor_size(x); i++) {
        const size_t a = i / 105, b = i / 35 % 3, c = i / 7 % 5, d = i % 7;
        assert_true(y->data[((c * 2 + a) * 7 + d) * 3 + b] == x->data[i]);
        assert_true(z->data[((a * 7 + d) * 5 + c) * 3 + b] == x->data[i]);
    }
}

/* Slices of each axis, joined again, are what was sliced. */
static void test_stretches(void **state)
{
    rapt_tape *t = *state;
    rapt_tensor *x = draw(t, 3, (size_t[]){4, 6, 9}, 5);
    for (int axis = 0; axis < 3; axis++) {
        const size_t count = x->shape[axis];
        rapt_tensor *parts[] = {rapt_op_slice(t, x, axis, 0, 1), rapt_op_slice(t, x, axis, 1, count - 3),
                                rapt_op_slice(t, x, axis - 3, count - 2, 2)};
        size_t shape[] = {4, 6, 9};
        shape[axis] = count - 3;
        assert_shape(t, parts[1], 3, shape);
        const size_t inner = axis == 2 ? 1 : axis == 1 ? 9 : 54;
        for (size_t i = 0; i < rapt_tensor_size(parts[1]); i++) {
            const size_t row = i / (inner * (count - 3)), rest = i % (inner * (count - 3));
            assert_true(parts[1]->data[i] == x->data[row * inner * count + inner + rest]);
        }
        const rapt_tensor *y = rapt_op_concat(t, 3, parts, axis);
        assert_shape(t, y, 3, x->shape);
        assert_memory_equal(y->data, x->data, rapt_tensor_size(x) * sizeof *x->data);
    }
}

static void test_broadcast(void **state)
{
    rapt_tape *t = *state;
    rapt_tensor *a = draw(t, 3, (size_t[]){2, 1, 7}, 6), *b = draw(t, 2, (size_t[]){5, 1}, 7);
    const rapt_tensor *difference = rapt_op_subtract(t, a, b), *product = rapt_op_multiply(t, a, b);
    const rapt_tensor *wide = rapt_op_expand(t, b, 3, (size_t[]){2, 5, 7});
    const size_t shape[] = {2, 5, 7};
    assert_shape(t, difference, 3, shape);
    assert_shape(t, product, 3, shape);
    assert_shape(t, wide, 3, shape);
    for (size_t i = 0; i < 70; i++) {
        const rapt_real x = a->data[i / 35 * 7 + i % 7], y = b->data[i / 7 % 5];
        assert_true(difference->data[i] == x - y);
        assert_true(product->data[i] == x * y);
        assert_true(wide->data[i] == y);
    }
    assert_ptr_equal(rapt_op_expand(t, a, 3, a->shape), a);
}

/* softmax_j(v^T tanh(W_q q_i + W_k k_j)) sum over values (Bahdanau, Cho, Bengio 2015; the book's AdditiveAttention). */
static void test_additive_attention(void **state)
{
    enum { BATCH = 2, QUERIES = 3, KEYS = 4, HIDDEN = 8, DV = 5 };
    rapt_tape *t = *state;
    rapt_tensor *q = draw(t, 3, (size_t[]){BATCH, QUERIES, HIDDEN}, 8), *k = draw(t, 3, (size_t[]){BATCH, KEYS, HIDDEN}, 9);
    rapt_tensor *v = draw(t, 3, (size_t[]){BATCH, KEYS, DV}, 10), *w = draw(t, 1, (size_t[]){HIDDEN}, 11);
    rapt_tensor *sum = rapt_op_add(t, rapt_op_reshape(t, q, 4, (size_t[]){BATCH, QUERIES, 1, HIDDEN}, NULL),
                                   rapt_op_reshape(t, k, 4, (size_t[]){BATCH, 1, KEYS, HIDDEN}, NULL));
    rapt_tensor *scores = rapt_op_sum_axis(t, rapt_op_multiply(t, rapt_op_tanh(t, sum), w), -1);
    const int32_t lens[BATCH] = {2, 4};
    rapt_tensor *weights = rapt_op_masked_softmax(t, scores, &(rapt_mask){.valid_lens = lens});
    const rapt_tensor *y = rapt_op_matmul(t, weights, v, false);
    assert_shape(t, y, 3, (size_t[]){BATCH, QUERIES, DV});
    for (size_t b = 0; b < BATCH; b++)
        for (size_t i = 0; i < QUERIES; i++) {
            double weight[KEYS], total = 0;
            for (size_t j = 0; j < (size_t)lens[b]; j++) {
                const rapt_real *query = q->data + (b * QUERIES + i) * HIDDEN, *key = k->data + (b * KEYS + j) * HIDDEN;
                double score = 0;
                for (size_t h = 0; h < HIDDEN; h++)
                    score += tanh((double)query[h] + (double)key[h]) * (double)w->data[h];
                total += weight[j] = exp(score);
            }
            for (size_t d = 0; d < DV; d++) {
                double want = 0;
                for (size_t j = 0; j < (size_t)lens[b]; j++)
                    want += weight[j] / total * (double)v->data[(b * KEYS + j) * DV + d];
                assert_near((double)y->data[(b * QUERIES + i) * DV + d], want, 10, 64);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stretches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broadcast, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_additive_attention, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
