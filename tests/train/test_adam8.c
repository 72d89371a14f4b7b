/* tests/train/test_adam8.c: Adam with moments in 8 bits: which parameters have them; the same bits at every level with any number
 * of threads; how near its steps are to fp32's, and that rounding does not lose small changes. tests/kernels/check_adam8.c checks
 * the meaning of codes, test_lean_training.c runs with them.
 * labels: each-level sanitized-late */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "options.h"
#include "tensor/params.h"
#include "train/adam_steps.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/moments8.h"

#include <math.h>

typedef struct learner {
    rapt_params *set;
    rapt_adam *a;
} learner;

enum { WIDE, LONG, SMALL, VECTOR, SPARSE, ALL };
static const size_t shapes[ALL][2] = {{3, 9000}, {150, 130}, {63, 65}, {5000, 1}, {80, 60}};

static learner new_learner(bool bits8)
{
    static const char *const names[ALL] = {"wide", "long", "small", "vector", "sparse"};
    learner l = {.set = rapt_params_new(3, NULL)};
    for (int i = 0; i < ALL; i++)
        rapt_params_add(l.set, names[i], i == VECTOR ? 1 : 2, shapes[i], (rapt_init){RAPT_INIT_NORMAL, 1});
    rapt_param_make_sparse(l.set, params_at(l.set, SPARSE));
    l.a = new_adam(l.set, ADAM(.beta1 = 0.9, .beta2 = 0.98, .weight_decay = 0.01, .bits8 = bits8));
    return l;
}

static void free_learner(learner *l)
{
    rapt_adam_free(l->a);
    rapt_params_free(l->set);
}

/* Element e of a gradient: one size of numbers for each element, around a mean that is not 0. */
static rapt_real gradient_of(uint64_t step, size_t param, size_t e)
{
    const double size = exp2(-(double)rng_below(param, e, 12));
    return (rapt_real)(size * (0.5 + rng_normal(100 + step, e)));
}

static void learn(const learner *l, rapt_tape *t, uint64_t number)
{
    for (size_t i = 0; i < ALL; i++) {
        rapt_param *p = params_at(l->set, i);
        for (size_t e = 0; e < rapt_tensor_size(&p->value); e++)
            p->value.grad[e] = gradient_of(number, i, e);
        p->value.grad_filled = true;
        if (p->sparse)
            memset(p->state->row_used, 1, p->value.shape[0]);
    }
    step(l->a, t, 1e-3, 0.7);
    rapt_params_zero_grad(l->set);
}

/* ---- which parameters ------------------------------------------------------------------------------------------- */

static void large_dense_matrices_have_codes(void **state)
{
    learner l = new_learner(true);
    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        const bool codes = i == WIDE || i == LONG;
        const size_t n = rapt_tensor_size(&params_at(l.set, i)->value);
        adam_moment m = adam_moment_of(l.a, i, false), v = adam_moment_of(l.a, i, true);
        assert_true(m.in_8_bits == codes && v.in_8_bits == codes && m.bytes == v.bytes && m.data != v.data);
        assert_true(codes == !rapt_adam_first_moment(l.a, i) && codes == !rapt_adam_second_moment(l.a, i));
        if (!codes)
            assert_int_equal(m.bytes, n * sizeof(rapt_real));
    }
    /* an exponent for 256 elements of a block of whole rows: rows of 9,000 have 36; 63 rows of 130 are 8,190 elements, 32 */
    assert_int_equal(adam_moment_of(l.a, WIDE, true).bytes, 3 * (9000 + 36));
    assert_int_equal(adam_moment_of(l.a, LONG, true).bytes, 150 * 130 + 2 * 32 + 13);
    assert_int_equal(moments8_at(params_at(l.set, LONG), 2 * 8190), 2 * (8190 + 32));
    assert_int_equal(moments8_element(params_at(l.set, LONG), 2 * (8190 + 32) - 1), 8190);
    free_learner(&l);
}

static void others_step_as_in_fp32(void **state)
{
    learner codes = new_learner(true), plain = new_learner(false);
    rapt_tape *t = new_tape(NULL, 2);
    (void)state;
    for (uint64_t s = 0; s < 5; s++) {
        learn(&codes, t, s);
        learn(&plain, t, s);
    }
    for (size_t i = SMALL; i < ALL; i++)
        same("value", rapt_tensor_size(&params_at(plain.set, i)->value), rapt_params_at(plain.set, i)->value.data,
             rapt_params_at(codes.set, i)->value.data);
    free_learner(&codes);
    free_learner(&plain);
    rapt_tape_free(t);
}

/* ---- bits --------------------------------------------------------------------------------------------------------- */

static void steps_have_the_bits_of(rapt_tape *t, void *context)
{
    const learner *want = context;
    learner l = new_learner(true);
    for (uint64_t s = 0; s < 4; s++)
        learn(&l, t, s);
    for (size_t i = 0; i < ALL; i++) {
        const rapt_tensor *x = &rapt_params_at(want->set, i)->value;
        same(x->name, rapt_tensor_size(x), x->data, rapt_params_at(l.set, i)->value.data);
        for (int second = 0; second < 2; second++) {
            adam_moment a = adam_moment_of(want->a, i, second), b = adam_moment_of(l.a, i, second);
            assert_memory_equal(a.data, b.data, a.bytes);
        }
    }
    free_learner(&l);
}

static void the_same_bits_everywhere(void **state)
{
    learner first = new_learner(true);
    rapt_tape *t = new_tape("scalar", 1);
    (void)state;
    for (uint64_t s = 0; s < 4; s++)
        learn(&first, t, s);
    everywhere(steps_have_the_bits_of, &first);
    free_learner(&first);
    rapt_tape_free(t);
}

/* ---- how near ------------------------------------------------------------------------------------------------------- */

/* The difference to fp32's movements so far, as a share of all movements, by root mean squares. A code is off by an eighth of
 * itself at most; a bound of a tenth is more than the errors of both moments, which mostly cancel over steps, and less than what
 * a lost decay or a bias in one direction would add up to. */
static double difference(const learner *codes, const learner *plain, const learner *start, size_t param)
{
    const rapt_real *a = params_at(codes->set, param)->value.data, *b = params_at(plain->set, param)->value.data;
    const rapt_real *from = params_at(start->set, param)->value.data;
    double off = 0, moved = 0;
    for (size_t e = 0; e < rapt_tensor_size(&params_at(codes->set, param)->value); e++) {
        off += ((double)a[e] - b[e]) * ((double)a[e] - b[e]);
        moved += ((double)b[e] - from[e]) * ((double)b[e] - from[e]);
    }
    return sqrt(off / moved);
}

static void steps_are_near_those_of_fp32(void **state)
{
    learner codes = new_learner(true), plain = new_learner(false), start = new_learner(false);
    rapt_tape *t = new_tape(NULL, 2);
    (void)state;
    for (uint64_t s = 0; s < 300; s++) {
        learn(&codes, t, s);
        learn(&plain, t, s);
    }
    for (size_t i = WIDE; i <= LONG; i++) {
        const double d = difference(&codes, &plain, &start, i);
        if (!(d > 0 && d < 0.1))
            fail_msg("%s: movements differ by %g", params_at(codes.set, i)->value.name, d);
    }
    free_learner(&codes);
    free_learner(&plain);
    free_learner(&start);
    rapt_tape_free(t);
}

/* With a constant gradient g the second moment is g^2 (1 - beta2^t), which changes by less than a code's distance from the third
 * step on: rounding to the nearest would stop there. 200 steps: within a few hundredths on the average. */
static void small_changes_add_up(void **state)
{
    rapt_params *set = rapt_params_new(3, NULL);
    rapt_param *p = rapt_params_add(set, "w", 2, (size_t[]){64, 64}, (rapt_init){.kind = RAPT_INIT_ZEROS});
    rapt_adam *a = new_adam(set, ADAM(.beta1 = 0.9, .beta2 = 0.99, .bits8 = true));
    rapt_tape *t = new_tape(NULL, 1);
    double moved = 0;
    (void)state;
    for (int s = 0; s < 200; s++) {
        for (size_t e = 0; e < 64 * 64; e++)
            p->value.grad[e] = (rapt_real)(1 + (double)(e % 256) / 256);
        p->value.grad_filled = true;
        step(a, t, 1e-3, 1);
        rapt_params_zero_grad(set);
    }
    for (size_t e = 0; e < 64 * 64; e++)
        moved -= (double)p->value.data[e] / (64 * 64);
    if (fabs(moved / 0.2 - 1) > 0.03) /* each step of Adam is lr where all gradients are the same */
        fail_msg("moved by %g, not 0.2", moved);
    rapt_adam_free(a);
    rapt_params_free(set);
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_dense_matrices_have_codes), cmocka_unit_test(others_step_as_in_fp32),
        cmocka_unit_test(the_same_bits_everywhere),        cmocka_unit_test(steps_are_near_those_of_fp32),
        cmocka_unit_test(small_changes_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
