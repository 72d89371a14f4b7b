/* tests/serve/test_workers.c: threads that read requests: addresses take turns, large bodies leave a thread for small ones, and
 * what waits at the end is let go. For serve/module/workers.h.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/module/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 64 };

/* What the threads do: they note whom they have, and wait at a gate. */
typedef struct work_test {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t may_pass; /* threads that the gate lets through; SIZE_MAX: it is open */
    size_t begun, large_begun, freed;
    char order[MANY]; /* the address's first letter of each that began */
} work_test;

static void count_freed(void *context)
{
    work_test *t = context;
    pthread_mutex_lock(&t->lock);
    t->freed++;
    pthread_mutex_unlock(&t->lock);
}

static void test_work(void *context, exchange *x, const void *what)
{
    work_test *t = context;
    size_t size;
    exchange_body(x, &size);
    assert_ptr_equal(what, t);
    pthread_mutex_lock(&t->lock);
    t->order[t->begun++] = *exchange_address(x);
    t->large_begun += size > WORKERS_LARGE_BODY;
    pthread_cond_broadcast(&t->changed);
    while (t->may_pass == 0)
        pthread_cond_wait(&t->changed, &t->lock);
    t->may_pass -= t->may_pass != SIZE_MAX;
    pthread_mutex_unlock(&t->lock);
    exchange_reply(x, 200, "text/plain", "", 0);
    exchange_release(x);
}

static void give(workers *w, work_test *t, const char *address, size_t size)
{
    char *body = calloc(size + 1, 1);
    exchange *x = exchange_new("POST", "/", NULL, NULL);
    assert_true(x && body && exchange_add_body(x, body, size));
    exchange_set_address(x, address);
    exchange_at_free(x, count_freed, t, NULL);
    assert_true(workers_give(w, x, t));
    free(body);
}

static void wait_for(work_test *t, const size_t *count, size_t value)
{
    pthread_mutex_lock(&t->lock);
    while (*count < value)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static void let_pass(work_test *t, size_t threads)
{
    pthread_mutex_lock(&t->lock);
    t->may_pass = threads;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void open_gate(work_test *t)
{
    let_pass(t, SIZE_MAX);
}

static work_test test_new(void)
{
    return (work_test){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
}

/* Workers whose threads all wait at the gate. */
static workers *busy_workers(work_test *t)
{
    workers *w = workers_start(test_work, t, NULL);
    assert_non_null(w);
    for (size_t i = 0; i < 3; i++)
        give(w, t, "x", 10);
    wait_for(t, &t->begun, 3);
    return w;
}

/* However many large bodies there are, a small one begins. */
static void large_bodies_leave_a_thread(void **state)
{
    (void)state;
    work_test t = test_new();
    workers *w = workers_start(test_work, &t, NULL);
    assert_non_null(w);
    for (size_t i = 0; i < 8; i++)
        give(w, &t, "a", WORKERS_LARGE_BODY + 1);
    wait_for(&t, &t.large_begun, 2);
    give(w, &t, "b", 10);
    wait_for(&t, &t.begun, 3);
    assert_int_equal(t.large_begun, 2);
    assert_int_equal(t.order[2], 'b');
    open_gate(&t);
    wait_for(&t, &t.begun, 9);
    workers_stop(w);
    assert_int_equal(t.freed, 9);
}

/* A client that has sent one request does not wait for all of a client that has sent many. One thread moves at a time: what two
 * take at once they may note in either order. */
static void addresses_take_turns(void **state)
{
    (void)state;
    work_test t = test_new();
    workers *w = busy_workers(&t);
    for (size_t i = 0; i < 20; i++)
        give(w, &t, "a", 10);
    give(w, &t, "b", 10);
    give(w, &t, "c", 10);
    for (size_t begun = 4; begun <= 25; begun++) {
        let_pass(&t, 1);
        wait_for(&t, &t.begun, begun);
    }
    open_gate(&t);
    workers_stop(w);
    const char *b = memchr(t.order, 'b', 25), *c = memchr(t.order, 'c', 25);
    assert_true(b && c && b - t.order < 8 && c - t.order < 8);
    assert_int_equal(t.freed, 25);
}

static void what_waits_is_let_go(void **state)
{
    (void)state;
    work_test t = test_new();
    workers *w = busy_workers(&t);
    for (size_t i = 0; i < 5; i++)
        give(w, &t, i % 2 ? "x" : "y", i % 2 ? 10 : WORKERS_LARGE_BODY + 1);
    assert_int_equal(workers_waiting(w), 5);
    open_gate(&t);
    workers_stop(w);
    assert_int_equal(t.freed, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_bodies_leave_a_thread),
        cmocka_unit_test(addresses_take_turns),
        cmocka_unit_test(what_waits_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
