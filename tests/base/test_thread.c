/* tests/base/test_thread.c: threads exclude each other, wake each other, and wait until a moment. For src/base/thread.h and
 * clock.h.
 * labels: threads */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/thread.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define THREADS 4
#define TURNS 20000

typedef struct shared {
    thread_mutex lock;
    thread_condition changed;
    long count;       /* guarded by lock */
    bool go;          /* guarded by lock */
    uintptr_t self;   /* of the last thread */
    bool blocked;     /* SIGTERM is */
} shared;

static void shared_init(shared *s)
{
    *s = (shared){0};
    thread_mutex_init(&s->lock);
    thread_condition_init(&s->changed);
}

static void shared_free(shared *s)
{
    thread_condition_free(&s->changed);
    thread_mutex_free(&s->lock);
}

static void *count_up(void *context)
{
    shared *s = context;
    for (int i = 0; i < TURNS; i++) {
        thread_lock(&s->lock);
        s->count++;
        thread_unlock(&s->lock);
    }
    return NULL;
}

static void test_exclusion(void **state)
{
    shared s;
    thread_handle all[THREADS];
    (void)state;
    shared_init(&s);
    for (int i = 0; i < THREADS; i++)
        assert_true(thread_start(&all[i], count_up, &s));
    for (int i = 0; i < THREADS; i++)
        thread_join(all[i]);
    assert_int_equal(s.count, THREADS * TURNS);
    shared_free(&s);
}

/* Waits for `go`, and counts itself. */
static void *wait_for_go(void *context)
{
    shared *s = context;
    sigset_t now;
    thread_lock(&s->lock);
    while (!s->go)
        thread_wait(&s->changed, &s->lock);
    s->count++;
    s->self = thread_self();
    s->blocked = pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGTERM);
    thread_wake_one(&s->changed);
    thread_unlock(&s->lock);
    return NULL;
}

static void test_waking(void **state)
{
    shared s;
    thread_handle all[THREADS];
    (void)state;
    shared_init(&s);
    for (int i = 0; i < THREADS; i++)
        assert_true(thread_start(&all[i], wait_for_go, &s));
    thread_lock(&s.lock);
    assert_int_equal(s.count, 0);
    s.go = true;
    thread_wake_all(&s.changed);
    thread_unlock(&s.lock);
    for (int i = 0; i < THREADS; i++)
        thread_join(all[i]);
    assert_int_equal(s.count, THREADS);
    assert_true(s.self != thread_self());
    assert_false(s.blocked);
    shared_free(&s);
}

/* A thread that is woken has not waited until the moment, and one that nobody wakes has. */
static void test_waiting_until(void **state)
{
    shared s;
    thread_handle other;
    bool woken = true;
    (void)state;
    shared_init(&s);
    thread_lock(&s.lock);
    const double begun = clock_seconds(), moment = begun + 0.05;
    while (thread_wait_until(&s.changed, &s.lock, moment))
        ;
    assert_true(clock_seconds() >= moment - 1e-6); /* a double of seconds is not exact to the nanosecond */
    assert_false(thread_wait_until(&s.changed, &s.lock, begun)); /* a moment that is past */
    s.go = true;
    assert_true(thread_start_without_signals(&other, wait_for_go, &s));
    while (s.count == 0 && woken)
        woken = thread_wait_until(&s.changed, &s.lock, clock_seconds() + 60);
    assert_true(woken);
    assert_int_equal(s.count, 1);
    assert_true(s.blocked);
    thread_unlock(&s.lock);
    thread_join(other);
    shared_free(&s);
}

static void *try_to_lock(void *context)
{
    shared *s = context;
    s->go = thread_try_lock(&s->lock);
    if (s->go)
        thread_unlock(&s->lock);
    return NULL;
}

static void test_trying(void **state)
{
    shared s;
    thread_handle other;
    (void)state;
    shared_init(&s);
    thread_lock(&s.lock);
    assert_true(thread_start(&other, try_to_lock, &s));
    thread_join(other);
    assert_false(s.go);
    thread_unlock(&s.lock);
    assert_true(thread_start(&other, try_to_lock, &s));
    thread_join(other);
    assert_true(s.go);
    shared_free(&s);
}

static void test_sleeping(void **state)
{
    (void)state;
    const double begun = clock_seconds();
    clock_sleep(0.02);
    assert_true(clock_seconds() >= begun + 0.02 - 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exclusion), cmocka_unit_test(test_waking),
                                       cmocka_unit_test(test_waiting_until), cmocka_unit_test(test_trying),
                                       cmocka_unit_test(test_sleeping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
