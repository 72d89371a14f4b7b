/* base/posix/posix_thread.c: threads of POSIX. Conditions wait on the monotonic clock, which nobody can set. */
#define _GNU_SOURCE
#include "base/thread.h"

#include "base/clock.h"

#include <sched.h>
#include <signal.h>

#define MIN_STACK ((size_t)1 << 20) /* musl gives a thread 128 kB, and macOS 512 kB */

bool thread_start(thread_handle *t, thread_fn *run, void *context)
{
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < MIN_STACK)
        pthread_attr_setstacksize(&attributes, MIN_STACK);
    const bool started = pthread_create(t, &attributes, run, context) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

bool thread_start_without_signals(thread_handle *t, thread_fn *run, void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = thread_start(t, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void thread_join(thread_handle t)
{
    pthread_join(t, NULL);
}

void thread_detach(thread_handle t)
{
    pthread_detach(t);
}

uintptr_t thread_self(void)
{
    return (uintptr_t)pthread_self();
}

void thread_yield(void)
{
    sched_yield();
}

void thread_mutex_init(thread_mutex *m)
{
    pthread_mutex_init(m, NULL);
}

void thread_mutex_free(thread_mutex *m)
{
    pthread_mutex_destroy(m);
}

void thread_lock(thread_mutex *m)
{
    pthread_mutex_lock(m);
}

bool thread_try_lock(thread_mutex *m)
{
    return pthread_mutex_trylock(m) == 0;
}

void thread_unlock(thread_mutex *m)
{
    pthread_mutex_unlock(m);
}

void thread_condition_init(thread_condition *c)
{
#ifdef __APPLE__ /* it has no such clock for conditions: thread_wait_until waits for a time */
    pthread_cond_init(c, NULL);
#else
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
#endif
}

void thread_condition_free(thread_condition *c)
{
    pthread_cond_destroy(c);
}

void thread_wait(thread_condition *c, thread_mutex *m)
{
    pthread_cond_wait(c, m);
}

bool thread_wait_until(thread_condition *c, thread_mutex *m, double moment)
{
#ifdef __APPLE__
    const double left = moment - clock_seconds(), seconds = left > 0 ? left : 0;
#else
    const double seconds = moment;
#endif
    const struct timespec at = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
#ifdef __APPLE__
    return pthread_cond_timedwait_relative_np(c, m, &at) == 0;
#else
    return pthread_cond_timedwait(c, m, &at) == 0;
#endif
}

void thread_wake_one(thread_condition *c)
{
    pthread_cond_signal(c);
}

void thread_wake_all(thread_condition *c)
{
    pthread_cond_broadcast(c);
}
