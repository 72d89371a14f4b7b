/* tests/engine/fault.h: a model that has a fault from some question on. For the tests of this folder. */
#ifndef TESTS_ENGINE_FAULT_H
#define TESTS_ENGINE_FAULT_H

#include <stdatomic.h>
#include <stddef.h>

#define FAULT_MESSAGE "its file is gone"

typedef struct fault_case {
    size_t sound; /* questions that are answered with no */
    atomic_size_t asked;
    atomic_int freed;
} fault_case;

/* The fault of rapt_engine_model_options. */
static inline const char *fault_after(void *context)
{
    fault_case *f = context;
    return atomic_fetch_add(&f->asked, 1) < f->sound ? NULL : FAULT_MESSAGE;
}

static inline void fault_count_free(void *context)
{
    atomic_fetch_add(&((fault_case *)context)->freed, 1);
}

#endif
