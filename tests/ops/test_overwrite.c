/* tests/ops/test_overwrite.c: an operand that the caller gives up is overwritten only if nothing needs it: not if its own
 * operation reads it in the backward pass, another operation has read it, or it is the caller's. Gradients equal a pass's that
 * overwrites nothing, bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/model.h"

#include "rapt/observe.h"

#define BATCH 2
#define TIME 3
#define WIDTH 5
#define SIZE (BATCH * TIME * WIDTH)

static const rapt_residual given_up = {.overwrite_y = true};

typedef struct bench {
    rapt_tape *t;
    rapt_params *set;
    rapt_param *w, *gamma;
} bench;

static bench bench_new(void)
{
    bench b = {.t = model_tape(NULL, 2), .set = rapt_params_new(1, NULL)};
    b.w = rapt_params_add(b.set, "w", 2, (size_t[]){WIDTH, WIDTH}, (rapt_init){RAPT_INIT_NORMAL, 1});
    b.gamma = rapt_params_add(b.set, "gamma", 1, (size_t[]){WIDTH}, (rapt_init){RAPT_INIT_ONES, 0});
    rapt_tape_begin(b.t, (rapt_pass){.record = true, .training = true});
    return b;
}

static void bench_free(bench *b)
{
    rapt_tape_free(b->t);
    rapt_params_free(b->set);
}

/* The caller's. */
static rapt_tensor *numbers(const bench *b, uint64_t key)
{
    rapt_tensor *x = rapt_tape_tensor(b->t, 3, (size_t[]){BATCH, TIME, WIDTH}, true);
    for (size_t i = 0; i < SIZE; i++)
        x->data[i] = (rapt_real)rng_normal(key, i);
    return x;
}

/* An operation's. */
static rapt_tensor *layer(const bench *b, rapt_tensor *x, rapt_activation activation)
{
    return rapt_op_linear(b->t, x, b->w, NULL, activation);
}

/* z = x + y, and whether that lies in y's memory. */
static void check_residual(const bench *b, rapt_tensor *x, rapt_tensor *y, rapt_residual residual, bool over)
{
    rapt_real want[SIZE], kept[SIZE];
    memcpy(kept, y->data, sizeof kept);
    for (size_t i = 0; i < SIZE; i++)
        want[i] = x->data[i] + y->data[i];
    const rapt_tensor *z = rapt_op_residual(b->t, x, y, residual);
    assert_int_equal(rapt_tape_error(b->t)->code, RAPT_OK);
    assert_memory_equal(z->data, want, sizeof want);
    assert_int_equal(z->data == y->data, over);
    if (!over)
        assert_memory_equal(y->data, kept, sizeof kept);
}

static void overwritten_where_given_up(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1);
    (void)state;
    check_residual(&b, x, layer(&b, x, RAPT_ACTIVATION_IDENTITY), given_up, true);
    check_residual(&b, x, layer(&b, x, RAPT_ACTIVATION_GELU), given_up, true);
    check_residual(&b, x, layer(&b, x, RAPT_ACTIVATION_IDENTITY), (rapt_residual){0}, false);
    bench_free(&b);
}

/* relu'(z) is read off y. */
static void kept_where_its_operation_reads_it(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1);
    (void)state;
    check_residual(&b, x, layer(&b, x, RAPT_ACTIVATION_RELU), given_up, false);
    check_residual(&b, x, rapt_op_scale(b.t, x, 2), given_up, false); /* which says nothing of it */
    bench_free(&b);
}

static void kept_where_another_has_read_it(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1), *y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    (void)state;
    rapt_op_swiglu(b.t, y, x);
    check_residual(&b, x, y, given_up, false);
    check_residual(&b, x, rapt_op_reshape(b.t, y, 3, x->shape, NULL), given_up, false);
    y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    check_residual(&b, y, y, given_up, false);
    bench_free(&b);
}

static void views_are_what_they_show(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1), *y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    (void)state;
    check_residual(&b, x, rapt_op_reshape(b.t, y, 3, x->shape, NULL), given_up, true);
    y = layer(&b, x, RAPT_ACTIVATION_RELU);
    check_residual(&b, x, rapt_op_reshape(b.t, y, 3, x->shape, NULL), given_up, false);
    y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    check_residual(&b, rapt_op_reshape(b.t, y, 3, x->shape, NULL), y, given_up, false);
    bench_free(&b);
}

static void the_callers_is_kept(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1);
    (void)state;
    check_residual(&b, x, numbers(&b, 2), given_up, false);
    rapt_tensor *y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    const rapt_real *memory = y->data;
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    x = numbers(&b, 1);
    assert_true(rapt_op_residual(b.t, x, numbers(&b, 2), given_up)->data != memory);
    bench_free(&b);
}

static void ignore(void *context, const rapt_observation *step)
{
    (void)context, (void)step;
}

static void observed_passes_keep_all(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1);
    (void)state;
    rapt_observe(b.t, ignore, NULL);
    check_residual(&b, x, layer(&b, x, RAPT_ACTIVATION_IDENTITY), given_up, false);
    bench_free(&b);
}

/* Dropout, sum and norm write into y one after the other. */
static void dropout_works_in_place(void **state)
{
    bench b = bench_new();
    rapt_tensor *x = numbers(&b, 1), *y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    rapt_tensor *want = rapt_op_add(b.t, x, rapt_op_dropout(b.t, y, 0.5));
    rapt_real sum[SIZE], plain[SIZE];
    (void)state;
    memcpy(sum, want->data, sizeof sum);
    memcpy(plain, y->data, sizeof plain);
    rapt_tape_begin(b.t, (rapt_pass){.record = true, .training = true}); /* the same key */
    x = numbers(&b, 1), y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    rapt_tensor *z = rapt_op_residual(b.t, x, y, (rapt_residual){.dropout = 0.5, .overwrite_y = true});
    assert_ptr_equal(z->data, y->data);
    assert_memory_equal(z->data, sum, sizeof sum);
    rapt_tape_begin(b.t, (rapt_pass){.record = true, .training = true});
    x = numbers(&b, 1), y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    z = rapt_op_residual(b.t, x, y, (rapt_residual){.dropout = 0.5});
    assert_memory_equal(z->data, sum, sizeof sum);
    assert_memory_equal(y->data, plain, sizeof plain);
    rapt_tape_begin(b.t, (rapt_pass){.record = true, .training = true});
    x = numbers(&b, 1), y = layer(&b, x, RAPT_ACTIVATION_IDENTITY);
    rapt_op_add_norm(b.t, x, y, b.gamma, NULL, 1e-5, (rapt_residual){.dropout = 0.5, .overwrite_y = true});
    assert_memory_equal(y->data, sum, sizeof sum);
    bench_free(&b);
}

/* ---- gradients ---------------------------------------------------------------------------------------------- */

typedef struct gradients {
    rapt_real w[WIDTH * WIDTH], x[SIZE], loss;
} gradients;

static gradients learn(bool norm, rapt_activation activation, rapt_residual residual)
{
    bench b = bench_new();
    rapt_real weights[SIZE];
    gradients g;
    for (size_t i = 0; i < SIZE; i++)
        weights[i] = (rapt_real)rng_normal(9, i);
    rapt_tensor *x = numbers(&b, 1), *y = layer(&b, x, activation);
    rapt_tensor *z = norm ? rapt_op_add_norm(b.t, x, y, b.gamma, NULL, 1e-5, residual) : rapt_op_residual(b.t, x, y, residual);
    rapt_tensor *loss = rapt_op_weighted_sum(b.t, rapt_op_swiglu(b.t, z, layer(&b, z, activation)), weights);
    assert_int_equal(rapt_backward(b.t, loss, NULL), RAPT_OK);
    memcpy(g.w, b.w->value.grad, sizeof g.w);
    memcpy(g.x, x->grad, sizeof g.x);
    g.loss = loss->data[0];
    bench_free(&b);
    return g;
}

static void gradients_are_the_same(void **state)
{
    (void)state;
    for (rapt_activation a = RAPT_ACTIVATION_IDENTITY; a <= RAPT_ACTIVATION_SILU; a++)
        for (int variant = 0; variant < 4; variant++) {
            rapt_residual residual = {.dropout = variant / 2 ? 0.3 : 0};
            gradients want = learn(variant % 2, a, residual);
            residual.overwrite_y = true;
            gradients got = learn(variant % 2, a, residual);
            assert_memory_equal(&got, &want, sizeof want);
        }
}

/* ---- modules ------------------------------------------------------------------------------------------------ */

/* What the caller made stays what it is, in whatever order norm, dropout and sum come. */
static void check_module_keeps(rapt_norm_place place, rapt_norm_kind kind)
{
    bench b = bench_new();
    rapt_add_norm m = {.dropout = 0.5, .place = place};
    rapt_layer_norm_init(&m.norm, b.set, "norm.", 1, (size_t[]){WIDTH}, &(rapt_norm_options){.kind = kind});
    rapt_tensor *x = numbers(&b, 1), *y = numbers(&b, 2);
    rapt_tensor *z = rapt_add_norm_after(b.t, &m, x, y);
    assert_int_equal(rapt_tape_error(b.t)->code, RAPT_OK);
    assert_ptr_not_equal(z->data, y->data);
    for (size_t i = 0; i < SIZE; i++) {
        assert_true(x->data[i] == (rapt_real)rng_normal(1, i));
        assert_true(y->data[i] == (rapt_real)rng_normal(2, i));
    }
    bench_free(&b);
}

static void modules_keep_the_callers(void **state)
{
    (void)state;
    check_module_keeps(RAPT_NORM_PLACE_PRE, RAPT_NORM_KIND_LAYER);
    check_module_keeps(RAPT_NORM_PLACE_POST, RAPT_NORM_KIND_LAYER);
    check_module_keeps(RAPT_NORM_PLACE_POST, RAPT_NORM_KIND_RMS);
}

/* A sublayer's result serves the sum. */
static void modules_overwrite_the_sublayers(void **state)
{
    bench b = bench_new();
    rapt_add_norm m = {.dropout = 0.5, .place = RAPT_NORM_PLACE_PRE};
    rapt_layer_norm_init(&m.norm, b.set, "norm.", 1, (size_t[]){WIDTH}, NULL);
    rapt_tensor *x = numbers(&b, 1), *y = layer(&b, rapt_add_norm_before(b.t, &m, x), RAPT_ACTIVATION_IDENTITY);
    (void)state;
    assert_ptr_equal(rapt_add_norm_after(b.t, &m, x, y)->data, y->data);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overwritten_where_given_up),
        cmocka_unit_test(kept_where_its_operation_reads_it),
        cmocka_unit_test(kept_where_another_has_read_it),
        cmocka_unit_test(views_are_what_they_show),
        cmocka_unit_test(the_callers_is_kept),
        cmocka_unit_test(observed_passes_keep_all),
        cmocka_unit_test(dropout_works_in_place),
        cmocka_unit_test(gradients_are_the_same),
        cmocka_unit_test(modules_keep_the_callers),
        cmocka_unit_test(modules_overwrite_the_sublayers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
