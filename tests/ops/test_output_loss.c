/* tests/ops/test_output_loss.c: the fused output matrix and loss give what rapt_op_linear and rapt_op_cross_entropy give, byte
 * for byte, at every level and with any number of threads; so do gradients that are deferred. That those two are
 * right is the business of double_gradcheck.c and the golden tests.
 * labels: not-raced each-level sanitized-late */
#define _GNU_SOURCE
#define SERIAL_WORK 1    /* loops of any size go to the threads, */
#include "base/pool.c"
#define FEWEST_CLASSES 1 /* and any loss is fused, any gradient may be deferred: */
#define MAX_DEFERRED_ROWS SIZE_MAX
#include "ops/output_loss.c" /* these copies take the places of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "levels.h"

#include <math.h>

typedef struct shape {
    size_t batch, time, in, classes;
    bool bias, lens;
    double smoothing, normalizer;
    bool gaps; /* every third position has no label */
} shape;

/* Rows and classes around the length of a block, features around a vector and a panel. */
static const shape shapes[] = {
    {1, 1, 1, 1, true, false, 0, 0},
    {2, 3, 5, 7, true, false, 0, 0},
    {3, 4, 16, 383, false, true, 0.1, 0},
    {2, 5, 33, 384, true, true, 0, 7.5},
    {4, 16, 64, 1155, true, false, 0, 0},
    {3, 150, 48, 385, true, true, 0.1, 0},   /* two blocks of rows */
    {9, 100, 7, 800, true, true, 0, 0},
    {2, 3, 400, 900, false, true, 0, 0},     /* two blocks of features */
    {1, 1200, 16, 17, true, false, 0, 0},
    {3, 150, 48, 385, true, true, 0.1, 0, true},
    {4, 16, 64, 1155, false, false, 0, 7.5, true},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

typedef struct bench {
    const shape *s;
    rapt_tape *t;
    rapt_params *set;
    rapt_param *w, *b, *x; /* x: the input's numbers */
    int32_t *labels, *lens;
} bench;

typedef struct outcome {
    rapt_real loss, *dx, *dw, *db;
    rapt_loss_sums parts;
} outcome;

static bool x_learns = true;

static rapt_tape *new_tape(const char *isa, int threads)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads, .isa = isa}, &err);
    if (!t)
        fail_msg("%s", err.message);
    return t;
}

static bench make(const shape *s, rapt_tape *t)
{
    bench b = {.s = s, .t = t, .set = rapt_params_new(5, NULL)};
    b.w = rapt_params_add(b.set, "w", 2, (size_t[]){s->classes, s->in}, (rapt_init){RAPT_INIT_UNIFORM, 1});
    b.b = s->bias ? rapt_params_add(b.set, "b", 1, (size_t[]){s->classes}, (rapt_init){RAPT_INIT_UNIFORM, 1}) : NULL;
    b.x = rapt_params_add(b.set, "x", 3, (size_t[]){s->batch, s->time, s->in}, (rapt_init){RAPT_INIT_UNIFORM, 2});
    b.labels = rapt_params_alloc(b.set, s->batch * s->time, sizeof *b.labels);
    b.lens = rapt_params_alloc(b.set, s->batch, sizeof *b.lens);
    for (size_t i = 0; i < s->batch * s->time; i++)
        b.labels[i] = s->gaps && i % 3 == 1 ? RAPT_NO_LABEL : (int32_t)rng_below(3, i, s->classes);
    for (size_t i = 0; i < s->batch; i++)
        b.lens[i] = (int32_t)rng_below(4, i, s->time + 1);
    b.lens[0] = s->batch > 1 ? 0 : (int32_t)s->time;
    assert_int_equal(rapt_params_error(b.set)->code, RAPT_OK);
    return b;
}

typedef enum way { STEPS, FUSED, DEFERRED } way;

static rapt_tensor *loss_of(bench *b, way how, rapt_tensor *x, rapt_loss_sums *parts)
{
    rapt_tokens labels = {.ids = b->labels, .batch = b->s->batch, .time = b->s->time};
    rapt_loss_options o = {.label_smoothing = b->s->smoothing, .normalizer = b->s->normalizer,
                           .valid_lens = b->s->lens ? b->lens : NULL};
    tape_defer_gradients(b->t, how == DEFERRED);
    if (how != STEPS)
        return rapt_op_output_loss(b->t, x, b->w, b->b, labels, &o, parts);
    return rapt_op_cross_entropy(b->t, rapt_op_linear(b->t, x, b->w, b->b, RAPT_ACTIVATION_IDENTITY), labels, &o, parts);
}

static rapt_tensor *input(bench *b)
{
    return rapt_tape_input(b->t, 3, b->x->value.shape, b->x->value.data, x_learns);
}

/* One pass; gradients are added to what the parameters hold, and with `twice` to what x holds from another use. */
static outcome run(bench *b, way how, bool twice)
{
    outcome o = {0};
    rapt_error err = {0};
    rapt_tape_begin(b->t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *x = input(b), *loss = loss_of(b, how, x, &o.parts);
    if (twice)
        loss = rapt_op_add(b->t, loss, rapt_op_scale(b->t, rapt_op_sum(b->t, x), 1e-3));
    if (rapt_backward(b->t, loss, &err))
        fail_msg("%s", err.message);
    assert_int_equal(b->w->state->deferred.dy != NULL,
                     how == DEFERRED && deferred_fits(b->t, b->s->in) && !b->w->sparse && !b->w->frozen);
    assert_int_equal(deferred_settle(b->t, b->w, &err), RAPT_OK);
    assert_null(b->w->state->deferred.dy);
    o.loss = loss->data[0];
    o.dx = x->grad, o.dw = b->w->value.grad, o.db = b->b ? b->b->value.grad : NULL;
    return o;
}

static outcome copy(bench *b, outcome o)
{
    size_t numbers[3] = {rapt_tensor_size(&b->x->value), rapt_tensor_size(&b->w->value), b->s->classes};
    rapt_real **part[3] = {&o.dx, &o.dw, &o.db};
    for (size_t i = 0; i < 3; i++) {
        rapt_real *to = rapt_params_alloc(b->set, numbers[i], sizeof *to);
        if (*part[i])
            memcpy(to, *part[i], numbers[i] * sizeof *to);
        *part[i] = *part[i] ? to : NULL;
    }
    return o;
}

static void same(const char *what, const bench *b, size_t n, const rapt_real *want, const rapt_real *got)
{
    assert_int_equal(want != NULL, got != NULL);
    for (size_t i = 0; want && i < n; i++)
        if (memcmp(&want[i], &got[i], sizeof *want) != 0)
            fail_msg("%zu x %zu rows of %zu, %zu classes: %s[%zu] is %a, not %a", b->s->batch, b->s->time, b->s->in,
                     b->s->classes, what, i, (double)got[i], (double)want[i]);
}

static void compare(const bench *b, const outcome *want, const outcome *got)
{
    same("loss", b, 1, &want->loss, &got->loss);
    assert_true(want->parts.nll == got->parts.nll);
    assert_int_equal(want->parts.tokens, got->parts.tokens);
    same("dx", b, rapt_tensor_size(&b->x->value), want->dx, got->dx);
    same("dw", b, rapt_tensor_size(&b->w->value), want->dw, got->dw);
    same("db", b, b->s->classes, want->db, got->db);
}

/* One pass, and a second that adds its gradients. */
static void check_passes(bench *b, const outcome want[2], way how)
{
    rapt_params_zero_grad(b->set);
    for (int pass = 0; pass < 2; pass++) {
        outcome got = run(b, how, pass == 1);
        compare(b, &want[pass], &got);
    }
}

static void check_shape(const shape *s, rapt_tape *scalar, rapt_tape *const *tapes, size_t count)
{
    bench b = make(s, scalar);
    outcome want[2] = {copy(&b, run(&b, STEPS, false))};
    want[1] = copy(&b, run(&b, STEPS, true));
    for (size_t i = 0; i < count; i++) {
        b.t = tapes[i];
        check_passes(&b, want, FUSED);
        check_passes(&b, want, DEFERRED);
    }
    rapt_params_free(b.set);
}

static void equals_the_steps(void **state)
{
    const char *isa = levels_wanted(state);
    rapt_tape *scalar = new_tape("scalar", 1);
    rapt_tape *tapes[] = {new_tape(isa, 1), new_tape(isa, 2), new_tape(isa, 3), new_tape(isa, 7)};
    for (size_t i = 0; i < SHAPES; i++)
        check_shape(&shapes[i], scalar, tapes, 4);
    for (size_t i = 0; i < 4; i++)
        rapt_tape_free(tapes[i]);
    rapt_tape_free(scalar);
}

/* Frozen parameters, inputs without a gradient, a matrix that is an embedding too. */
static void makes_only_what_is_wanted(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    for (unsigned i = 0; i < 16; i++) {
        bench b = make(&shapes[4], t);
        x_learns = !(i & 1);
        if (i & 2)
            rapt_params_freeze(b.set, "w");
        if (i & 4)
            rapt_params_freeze(b.set, "b");
        if (i & 8)
            rapt_param_make_sparse(b.set, b.w);
        if ((i & 7) != 7) { /* else nothing learns */
            memset(b.w->value.grad, 0, rapt_tensor_size(&b.w->value) * sizeof(rapt_real));
            memset(b.b->value.grad, 0, rapt_tensor_size(&b.b->value) * sizeof(rapt_real));
            outcome want[2] = {copy(&b, run(&b, STEPS, false))};
            want[1] = copy(&b, run(&b, STEPS, true));
            check_passes(&b, want, FUSED);
            check_passes(&b, want, DEFERRED);
            if (i & 8 && !(i & 2))
                assert_null(memchr(b.w->state->row_used, 0, b.s->classes));
        }
        rapt_params_free(b.set);
    }
    x_learns = true;
    rapt_tape_free(t);
}

static void inference_gives_the_same_loss(void **state)
{
    (void)state;
    bench b = make(&shapes[5], new_tape(NULL, 2));
    rapt_loss_sums parts, again;
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    rapt_real loss = loss_of(&b, FUSED, input(&b), &parts)->data[0];
    rapt_tape_begin(b.t, (rapt_pass){0});
    rapt_tensor *y = loss_of(&b, FUSED, input(&b), &again);
    assert_true(loss == y->data[0] && parts.nll == again.nll && parts.tokens == again.tokens);
    assert_false(y->requires_grad);
    rapt_tape_free(b.t);
    rapt_params_free(b.set);
}

/* What stands in rows that don't count reaches nothing, though it be no number at all. */
static void rows_that_do_not_count_are_not_read(void **state)
{
    (void)state;
    bench b = make(&shapes[6], new_tape(NULL, 3));
    outcome want = copy(&b, run(&b, FUSED, false));
    const shape *s = b.s;
    for (size_t i = 0; i < s->batch * s->time; i++)
        for (size_t j = 0; j < s->in && (int32_t)(i % s->time) >= b.lens[i / s->time]; j++)
            b.x->value.data[i * s->in + j] = (rapt_real)NAN;
    rapt_params_zero_grad(b.set);
    rapt_error err = {0};
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    rapt_tensor *x = input(&b), *loss = loss_of(&b, FUSED, x, NULL);
    assert_int_equal(rapt_backward(b.t, loss, &err), RAPT_OK);
    same("dw", &b, rapt_tensor_size(&b.w->value), want.dw, b.w->value.grad);
    same("db", &b, s->classes, want.db, b.b->value.grad);
    for (size_t i = 0; i < s->batch * s->time * s->in; i++)
        assert_true(isfinite(x->grad[i]) && (!isnan(x->data[i]) || x->grad[i] == 0));
    rapt_tape_free(b.t);
    rapt_params_free(b.set);
}

/* A position without a label is as one behind the end of its row. */
static void positions_without_a_label_do_not_count(void **state)
{
    (void)state;
    shape padded = shapes[5], gaps = shapes[5];
    gaps.lens = false;
    bench a = make(&padded, new_tape(NULL, 2)), b = make(&gaps, new_tape(NULL, 2));
    for (size_t i = 0; i < gaps.batch * gaps.time; i++)
        if ((int32_t)(i % gaps.time) >= a.lens[i / gaps.time])
            b.labels[i] = RAPT_NO_LABEL;
    for (way how = STEPS; how <= FUSED; how++) {
        rapt_params_zero_grad(a.set);
        rapt_params_zero_grad(b.set);
        outcome want = run(&a, how, false), got = run(&b, how, false);
        assert_true(want.parts.tokens > 0 && want.parts.tokens < gaps.batch * gaps.time);
        compare(&b, &want, &got);
    }
    rapt_tape_free(a.t);
    rapt_tape_free(b.t);
    rapt_params_free(a.set);
    rapt_params_free(b.set);
}

static void nothing_counts(void **state)
{
    (void)state;
    shape s = {2, 3, 16, 500, true, true, 0, 0};
    bench b = make(&s, new_tape(NULL, 2));
    memset(b.lens, 0, s.batch * sizeof *b.lens);
    for (int i = 0; i < 4; i++) {
        rapt_params_zero_grad(b.set);
        memset(b.w->value.grad, 0xff, rapt_tensor_size(&b.w->value) * sizeof(rapt_real));
        outcome o = run(&b, i < 2 ? FUSED : DEFERRED, i % 2);
        assert_int_equal(o.parts.tokens, 0);
        for (size_t j = 0; j < s.classes * s.in; j++)
            assert_true(o.dw[j] == 0 && o.db[j / s.in] == 0);
        for (size_t j = 0; j < s.batch * s.time * s.in; j++)
            assert_true(o.dx[j] == (i % 2 ? (rapt_real)1e-3 : 0)); /* of the sum in `run` */
    }
    rapt_tape_free(b.t);
    rapt_params_free(b.set);
}

/* Two losses with one matrix in a pass: only one gradient can be deferred. The sum of two in the other order may round
 * otherwise. */
static void one_deferred_gradient_at_a_time(void **state)
{
    (void)state;
    bench b = make(&shapes[4], new_tape(NULL, 2));
    rapt_error err = {0};
    size_t n = rapt_tensor_size(&b.w->value);
    rapt_real *twice = NULL;
    for (way how = FUSED; how <= DEFERRED; how++) {
        rapt_params_zero_grad(b.set);
        rapt_tape_begin(b.t, (rapt_pass){.record = true});
        rapt_tensor *first = loss_of(&b, how, input(&b), NULL), *second = loss_of(&b, how, input(&b), NULL);
        assert_int_equal(rapt_backward(b.t, rapt_op_add(b.t, first, second), &err), RAPT_OK);
        assert_int_equal(b.w->state->deferred.dy != NULL, how == DEFERRED);
        assert_int_equal(deferred_settle(b.t, b.w, &err), RAPT_OK);
        if (how == DEFERRED)
            same("dw", &b, n, twice, b.w->value.grad);
        twice = copy(&b, (outcome){.dw = b.w->value.grad}).dw;
    }
    rapt_tape_free(b.t);
    rapt_params_free(b.set);
}

static void deferred_gradients_do_not_outlive_their_pass(void **state)
{
    (void)state;
    bench b = make(&shapes[4], new_tape(NULL, 2));
    rapt_tape *other = new_tape(NULL, 1);
    rapt_error err = {0};
    rapt_tape_begin(other, (rapt_pass){0}); /* as many passes as the other one */
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    assert_int_equal(rapt_backward(b.t, loss_of(&b, DEFERRED, input(&b), NULL), &err), RAPT_OK);
    assert_non_null(b.w->state->deferred.dy);
    assert_int_equal(deferred_settle(other, b.w, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "w: its deferred gradient"));
    rapt_tape_begin(b.t, (rapt_pass){.record = true});
    err = (rapt_error){0};
    assert_int_equal(deferred_settle(b.t, b.w, &err), RAPT_ERR_VALUE);
    err = (rapt_error){0};
    assert_int_equal(rapt_backward(b.t, loss_of(&b, DEFERRED, input(&b), NULL), &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "output_loss w: its deferred gradient"));
    rapt_params_zero_grad(b.set);
    assert_null(b.w->state->deferred.dy);
    err = (rapt_error){0};
    assert_int_equal(deferred_settle(b.t, b.w, &err), RAPT_OK); /* there is none any more */
    rapt_tape_free(other);
    rapt_tape_free(b.t);
    rapt_params_free(b.set);
}

int main(void)
{
    struct CMUnitTest tests[7 + LEVELS_MOST] = {
        cmocka_unit_test(makes_only_what_is_wanted),
        cmocka_unit_test(inference_gives_the_same_loss),
        cmocka_unit_test(rows_that_do_not_count_are_not_read),
        cmocka_unit_test(positions_without_a_label_do_not_count),
        cmocka_unit_test(nothing_counts),
        cmocka_unit_test(one_deferred_gradient_at_a_time),
        cmocka_unit_test(deferred_gradients_do_not_outlive_their_pass),
    };
    levels_tests(tests + 7, "equals_the_steps", equals_the_steps, kernels_names);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
