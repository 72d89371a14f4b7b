/* tests/train/adam_steps.h: tapes at every level, and steps of Adam that have to succeed. For test_adam.c and
 * test_deferred_gradients.c. */
#ifndef TESTS_TRAIN_ADAM_STEPS_H
#define TESTS_TRAIN_ADAM_STEPS_H

#include "rapt/train.h"

#include "tape/tape_core.h"

#include <string.h>

static const int thread_counts[] = {1, 2, 3, 7};

static inline rapt_tape *new_tape(const char *isa, int threads)
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = threads, .isa = isa}, &err);
    if (!t)
        fail_msg("%s", err.message);
    return t;
}

static inline rapt_adam *new_adam(rapt_params *set, rapt_adam_options o)
{
    rapt_error err = {0};
    rapt_adam *a = rapt_adam_new(set, &o, &err);
    if (!a)
        fail_msg("%s", err.message);
    return a;
}

/* Runs `test` at every level that is to be had, with each number of threads. */
static inline void everywhere(void (*test)(rapt_tape *t, void *context), void *context)
{
    for (const char *const *level = kernels_names; *level; level++)
        for (size_t j = 0; j < sizeof thread_counts / sizeof *thread_counts && kernels_of_isa(*level, NULL); j++) {
            rapt_tape *t = new_tape(*level, thread_counts[j]);
            test(t, context);
            rapt_tape_free(t);
        }
}

static inline void step(rapt_adam *a, rapt_tape *t, double lr, double scale)
{
    rapt_error err = {0};
    if (rapt_adam_step(a, t, lr, scale, &err))
        fail_msg("%s", err.message);
}

static inline void same(const char *what, size_t n, const rapt_real *want, const rapt_real *got)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&want[i], &got[i], sizeof *want) != 0)
            fail_msg("%s[%zu] is %a, not %a", what, i, (double)got[i], (double)want[i]);
}

#endif
