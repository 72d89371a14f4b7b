/* serve/module/exchange_work.c: see exchange_work.h. Time is that of the processor: other work on the machine cuts off nobody. */
#define _GNU_SOURCE /* clock_gettime */
#include "serve/module/exchange_work.h"

#include <time.h>

static double thread_seconds(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

void exchange_begin_work(exchange *x)
{
    exchange_work_of(x)->until = thread_seconds() + EXCHANGE_WORK_SECONDS;
}

bool exchange_stops(void *x)
{
    const double until = exchange_work_of(x)->until;
    return (until > 0 && thread_seconds() > until) || exchange_gone(x);
}
