/* base/stop.h: a caller's wish that long work should end. For loops that take seconds; they end with RAPT_ERR_INTERRUPTED. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* `stop` is what a signal handler sets, or NULL. */
static inline bool stop_asked(const volatile sig_atomic_t *stop)
{
    return stop && *stop;
}

#endif
