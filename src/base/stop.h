/* base/stop.h: a caller's request that long work should end. For loops that take seconds; they end with RAPT_ERR_INTERRUPTED. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include "rapt/base.h"

/* The caller's function, or NULL for never, and its context. */
typedef struct stop_check {
    rapt_stop_fn *stop;
    void *context;
} stop_check;

static inline bool stop_asked(stop_check c)
{
    return c.stop && c.stop(c.context);
}

#endif
