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

bool exchange_has_worker(exchange *x)
{
    return exchange_work_of(x)->until > 0;
}

void exchange_end_work(exchange *x)
{
    exchange_drop_body(x);
    exchange_asks(x, ADMISSION_READING, 0);
}

bool exchange_stops(void *x)
{
    const double until = exchange_work_of(x)->until;
    return (until > 0 && thread_seconds() > until) || exchange_gone(x);
}

admission_answer exchange_asks(exchange *x, admission_part part, size_t bytes)
{
    exchange_work *w = exchange_work_of(x);
    const admission_answer answer = w->memory ? admission_set(w->memory, &w->ticket, part, bytes) : ADMISSION_GIVEN;
    if (part == ADMISSION_MAKING && answer == ADMISSION_GIVEN)
        atomic_store(&w->asked, bytes);
    return answer;
}

bool exchange_makes(exchange *x, size_t bytes)
{
    exchange_work *w = exchange_work_of(x);
    const size_t made = atomic_fetch_add(&w->made, bytes) + bytes;
    return made <= atomic_load(&w->asked) || exchange_asks(x, ADMISSION_MAKING, made + made / 4) == ADMISSION_GIVEN;
}
