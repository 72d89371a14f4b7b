/* serve/module/exchange_work.c: bounds on a request's time and memory. Time is processor time, so that other work on the machine
 * makes no request fail. */
#define _GNU_SOURCE /* clock_gettime */
#include "serve/module/exchange_work.h"

#include <pthread.h>
#include <time.h>

static double thread_seconds(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

void exchange_begin_work(exchange *x)
{
    exchange_work *w = exchange_work_of(x);
    w->until = thread_seconds() + EXCHANGE_WORK_SECONDS;
    w->worker = pthread_self();
    w->has_worker = true;
}

bool exchange_has_worker(exchange *x)
{
    const exchange_work *w = exchange_work_of(x);
    return w->has_worker && pthread_equal(w->worker, pthread_self());
}

void exchange_end_work(exchange *x)
{
    exchange_drop_body(x);
    exchange_asks(x, ADMISSION_READING, 0);
}

bool exchange_stops(void *x)
{
    return (exchange_has_worker(x) && thread_seconds() > exchange_work_of(x)->until) || exchange_gone(x);
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
