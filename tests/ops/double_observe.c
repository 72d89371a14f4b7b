/* tests/ops/double_observe.c: the gradients that rapt_observe hands over are derivatives: a number of a step is moved as it is
 * handed over, and the loss moves as its gradient says. In the double build; order and shapes are checked in tests/nn.
 * labels: not-sanitized not-emulated */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn/observed.h"

#ifndef RAPT_DOUBLE
#error "the derivatives need the double build"
#endif

#define STEP 1e-5
#define BOUND 1e-7 /* of the largest gradient of the pass */
#define ENTRIES 5  /* of a step that are checked */

/* Moves one number of one step. */
typedef struct nudge {
    const char *name;
    size_t index;
    double by;
    size_t moved;
} nudge;

static void move(void *context, const rapt_observation *step)
{
    nudge *n = context;
    if (strcmp(step->name, n->name) != 0)
        return;
    step->tensor->data[n->index] += n->by;
    n->moved++;
}

static double loss_with(rapt_tape *t, const subject *s, const char *name, size_t index, double by)
{
    nudge n = {name, index, by, 0};
    rapt_observe(t, move, &n);
    rapt_tape_begin(t, (rapt_pass){.training = true, .seed = 5, .step = 8});
    const rapt_tensor *loss = subject_loss(t, s);
    subject_check(t, s->what);
    assert_int_equal(n.moved, 1); /* no two steps have one name */
    return loss->data[0];
}

static double largest_gradient(const observer *r)
{
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; r->steps[i].gradient && j < rapt_tensor_size(&r->steps[i].tensor); j++)
            most = fmax(most, fabs(r->steps[i].values[j]));
    return most;
}

/* Compares some entries; returns how many moved the loss. */
static size_t check_step(rapt_tape *t, const subject *s, const observed *k, double scale)
{
    size_t n = rapt_tensor_size(&k->tensor), stride = n > ENTRIES ? n / ENTRIES : 1, alive = 0;
    for (size_t i = stride / 2; i < n; i += stride) {
        double up = loss_with(t, s, k->name, i, STEP), down = loss_with(t, s, k->name, i, -STEP);
        double want = (up - down) / (2 * STEP);
        if (!(fabs(want - k->values[i]) <= BOUND * scale))
            fail_msg("%s: the gradient of %s[%zu] is %.12g, the differences say %.12g", s->what, k->name, i, k->values[i],
                     want);
        alive += want != 0;
    }
    return alive;
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    rapt_tape *t = model_tape(NULL, 1);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject s = subject_new(i);
        rapt_error err = {0};
        observer r = {0};
        size_t steps = 0, alive = 0;
        rapt_observe(t, observer_keep, &r);
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .seed = 5, .step = 8});
        if (rapt_backward(t, subject_loss(t, &s), &err))
            fail_msg("%s: %s", s.what, err.message);
        for (size_t j = 0; j < r.count; j++)
            if (r.steps[j].gradient && r.steps[j].formula[0]) { /* not a parameter's */
                alive += check_step(t, &s, &r.steps[j], largest_gradient(&r)) > 0;
                steps++;
            }
        print_message("%s: %zu steps, %zu of them move the loss\n", s.what, steps, alive);
        assert_true(steps >= 20 && alive >= steps * 9 / 10);
        observer_free(&r);
        subject_free(&s);
    }
    rapt_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
