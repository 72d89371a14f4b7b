/* tests/train/test_deferred_gradients.c: weight gradients of which only the factors are kept: steps and norms have the bits
 * that they have of a gradient in memory, at every level with any number of threads; what others added counts; what is gone is
 * refused.
 * labels: levels */
#define _GNU_SOURCE
#define SERIAL_WORK 1    /* loops of any size go to the threads, */
#include "base/pool.c"
#define FEWEST_CLASSES 1 /* and matrices of any size may have deferred gradients: */
#define MAX_DEFERRED_ROWS 12
#include "ops/output_loss.c" /* these copies take the places of the library's */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "train/adam_steps.h"

#include <math.h>
#include <string.h>

typedef struct output {
    rapt_params *set;
    rapt_param *w, *b, *x;
    rapt_adam *a;
} output;

#define LABELS 12

static output make_output(size_t classes, size_t in)
{
    output o = {.set = rapt_params_new(7, NULL)};
    rapt_init init = {RAPT_INIT_UNIFORM, 1};
    o.w = rapt_params_add(o.set, "w", 2, (size_t[]){classes, in}, init);
    o.b = rapt_params_add(o.set, "b", 1, (size_t[]){classes}, init);
    o.x = rapt_params_add(o.set, "x", 3, (size_t[]){3, LABELS / 3, in}, init);
    assert_int_equal(rapt_params_error(o.set)->code, RAPT_OK);
    o.a = new_adam(o.set, ADAM(.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1));
    return o;
}

static void free_output(output *o)
{
    rapt_adam_free(o->a);
    rapt_params_free(o->set);
}

static void backward_of(output *o, rapt_tape *t, bool defer)
{
    int32_t labels[LABELS], lens[] = {4, 1, 3};
    rapt_error err = {0};
    for (size_t i = 0; i < LABELS; i++)
        labels[i] = (int32_t)rng_below(9, i, o->w->value.shape[0]);
    tape_defer_gradients(t, defer);
    rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
    rapt_tensor *loss = rapt_op_output_loss(t, &o->x->value, o->w, o->b, (rapt_tokens){.ids = labels, .batch = 3, .time = 4},
                                            &(rapt_loss_options){.valid_lens = lens}, NULL);
    if (rapt_backward(t, loss, &err))
        fail_msg("%s", err.message);
    assert_int_equal(o->w->state->deferred.dy != NULL, defer);
}

static void check_deferred(rapt_tape *t, size_t classes, size_t in)
{
    output deferred = make_output(classes, in), settled = make_output(classes, in);
    for (size_t s = 1; s <= 3; s++) {
        backward_of(&settled, t, false);
        double norm = rapt_grad_norm(t, settled.set);
        step(settled.a, t, 0.01, 1 / norm);
        backward_of(&deferred, t, true);
        assert_true(norm == rapt_grad_norm(t, deferred.set));
        step(deferred.a, t, 0.01, 1 / norm);
        assert_false(deferred.w->value.grad_filled);
        same("w", classes * in, settled.w->value.data, deferred.w->value.data);
        same("b", classes, settled.b->value.data, deferred.b->value.data);
        rapt_params_zero_grad(settled.set);
        rapt_params_zero_grad(deferred.set);
    }
    for (size_t i = 0; i < 2; i++)
        same("v", rapt_tensor_size(&rapt_params_at(deferred.set, i)->value), rapt_adam_second_moment(settled.a, i),
             rapt_adam_second_moment(deferred.a, i));
    free_output(&deferred);
    free_output(&settled);
}

/* Matrices of one piece and of several, of rows that make long and short blocks. */
static void deferred_steps_are_the_same(rapt_tape *t, void *context)
{
    (void)context;
    check_deferred(t, 5, 3);
    check_deferred(t, 3100, 16);
    check_deferred(t, 400, 272);
    check_deferred(t, 70, 2048);
}

static void test_deferred(void **state)
{
    (void)state;
    everywhere(deferred_steps_are_the_same, NULL);
}

/* What others have added to the parameter's gradient counts, too. */
static void check_added(bool with_norm)
{
    rapt_tape *t = new_tape(NULL, 2);
    output deferred = make_output(40, 16), settled = make_output(40, 16);
    output *both[] = {&settled, &deferred};
    double norm[2];
    for (int i = 0; i < 2; i++) {
        backward_of(both[i], t, i == 1);
        for (size_t j = 0; j < 40 * 16; j++) /* by whole numbers, so that the order does not matter much */
            both[i]->w->value.grad[j] = (both[i]->w->value.grad_filled ? both[i]->w->value.grad[j] : 0) + (rapt_real)(j % 5);
        both[i]->w->value.grad_filled = true;
        norm[i] = with_norm ? rapt_grad_norm(t, both[i]->set) : 0;
        step(both[i]->a, t, 0.01, 1);
    }
    assert_null(deferred.w->state->deferred.dy);
    assert_true(norm[0] == norm[1]);
    same("w", 40 * 16, settled.w->value.data, deferred.w->value.data);
    free_output(&deferred);
    free_output(&settled);
    rapt_tape_free(t);
}

static void deferred_gradients_are_added(void **state)
{
    (void)state;
    check_added(true);
    check_added(false);
}

static void deferred_gradients_that_are_gone(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    output o = make_output(40, 16);
    rapt_error err = {0};
    rapt_real before = o.w->value.data[0], bias = o.b->value.data[0];
    backward_of(&o, t, true);
    rapt_tape_begin(t, (rapt_pass){0});
    assert_true(isnan(rapt_grad_norm(t, o.set)));
    assert_int_equal(rapt_adam_step(o.a, t, 0.01, 1, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "w: its deferred gradient"));
    assert_true(o.w->value.data[0] == before && o.b->value.data[0] == bias);
    assert_int_equal(rapt_adam_steps(o.a), 0);
    free_output(&o);
    rapt_tape_free(t);
}

static void deferred_gradients_that_are_not_finite(void **state)
{
    (void)state;
    rapt_tape *t = new_tape(NULL, 2);
    output o = make_output(40, 16);
    backward_of(&o, t, true);
    assert_null(rapt_first_not_finite(t, o.set, true));
    rapt_params_zero_grad(o.set);
    backward_of(&o, t, true);
    ((rapt_real *)o.w->state->deferred.dy)[0] = (rapt_real)INFINITY;
    assert_false(isfinite(rapt_grad_norm(t, o.set)));
    assert_null(rapt_first_not_finite(t, o.set, false));
    assert_string_equal(rapt_first_not_finite(t, o.set, true), "w");
    free_output(&o);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deferred),
        cmocka_unit_test(deferred_gradients_are_added),
        cmocka_unit_test(deferred_gradients_that_are_gone),
        cmocka_unit_test(deferred_gradients_that_are_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
