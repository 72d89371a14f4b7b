/* tests/nn/test_observe_no_memory.c: every allocation of an observed training step is made to fail in turn: the failure is
 * reported, nothing crashes, nothing leaks. Linked as tests/failing.h says. */
#include "failing.h"

#include "nn/observed.h"

#include "tape/tape_core.h"

/* Counts, and sees that there is something behind every pointer. */
static void look(void *context, const rapt_observation *step)
{
    double *sum = context;
    *sum += (double)step->values[rapt_tensor_size(step->tensor) - 1] + (double)strlen(step->name);
}

static rapt_code observed_step(const subject *s)
{
    rapt_error err = {0};
    double sum = 0;
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    if (t) { /* chunks of one block each, so that nearly every request is an allocation */
        t->step.chunk_size = t->step.first_size = t->scratch.chunk_size = t->scratch.first_size = 64;
        rapt_observe(t, look, &sum);
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true});
        rapt_backward(t, subject_loss(t, s), &err);
    }
    rapt_tape_free(t);
    return err.code;
}

static void observation_survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject s = subject_new(i);
        failing f = {.what = s.what, .at_least = 300};
        do {
            failing_arm(&f);
        } while (failing_again(&f, observed_step(&s)));
        subject_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observation_survives),
    };
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
