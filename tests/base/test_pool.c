/* tests/base/test_pool.c: every chunk of every loop runs exactly once, on a worker of its own number, and is done when
 * the loop returns; with more threads than CPUs, and with workers that sleep in between.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pool.h"
#include "forked.h"

#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGE_WORK ((size_t)1 << 40)
#define MOST_CHUNKS 500
#define MOST_THREADS 16

/* Plain numbers: a thread sanitizer sees chunks that run twice, and results read too early. */
typedef struct loop {
    int runs[MOST_CHUNKS];
    size_t value[MOST_CHUNKS];
    size_t by_worker[MOST_THREADS];
    int threads;
    atomic_int bad_worker;
} loop;

static void count_chunk(void *context, size_t chunk, int worker)
{
    loop *l = context;
    if (worker < 0 || worker >= l->threads)
        atomic_store(&l->bad_worker, 1);
    else
        l->by_worker[worker]++; /* no two threads have the same number */
    l->runs[chunk]++;
    l->value[chunk] = chunk * chunk;
}

static void check_loop(pool *p, loop *l, size_t chunks, size_t work)
{
    size_t total = 0;
    memset(l, 0, sizeof *l);
    l->threads = pool_threads(p);
    pool_run(p, chunks, work, count_chunk, l);
    assert_int_equal(atomic_load(&l->bad_worker), 0);
    for (size_t i = 0; i < MOST_CHUNKS; i++) {
        if (l->runs[i] != (i < chunks))
            fail_msg("chunk %zu of %zu ran %d times", i, chunks, l->runs[i]);
        if (i < chunks)
            assert_int_equal(l->value[i], i * i);
    }
    for (int i = 0; i < l->threads; i++)
        total += l->by_worker[i];
    assert_int_equal(total, chunks);
}

static pool *new_pool(int threads)
{
    rapt_error err = {0};
    pool *p = pool_new(threads, &err);
    if (!p)
        fail_msg("%s", err.message);
    assert_int_equal(pool_threads(p), threads);
    return p;
}

static void check_threads(int threads, size_t loops)
{
    static loop l;
    pool *p = new_pool(threads);
    for (size_t i = 0; i < loops; i++)
        check_loop(p, &l, i % 37, LARGE_WORK);
    for (size_t i = 0; i < loops / 50; i++)
        check_loop(p, &l, MOST_CHUNKS - i % 5, LARGE_WORK);
    pool_free(p);
}

static void every_chunk_runs_once(void **state)
{
    static const int threads[] = {1, 2, 3, 7};
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        check_threads(threads[i], 2000);
}

/* The number of the loop is kept in 16 bits: beyond them it starts again. */
static void many_loops(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(3);
    l.threads = 3;
    for (size_t i = 0; i < 140000; i++)
        pool_run(p, 2, LARGE_WORK, count_chunk, &l);
    assert_int_equal(l.runs[0], 140000);
    assert_int_equal(l.runs[1], 140000);
    pool_free(p);
}

/* Only loops of several threads count, and only while they are measured. */
static void loops_are_measured(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(3);
    check_loop(p, &l, 30, LARGE_WORK);
    assert_int_equal(pool_measured(p).loops, 0);
    pool_measure(p, true);
    for (int i = 0; i < 5; i++)
        check_loop(p, &l, 30, LARGE_WORK);
    check_loop(p, &l, 1, LARGE_WORK); /* the caller's alone */
    const pool_times times = pool_measured(p);
    assert_int_equal(times.loops, 5);
    assert_true(times.inside > 0 && times.waiting >= 0 && times.waiting <= times.inside);
    pool_measure(p, false);
    check_loop(p, &l, 30, LARGE_WORK);
    assert_int_equal(pool_measured(p).loops, 0);
    pool_free(p);
}

/* Pauses long enough for workers to fall asleep. */
static void workers_wake_up(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(7);
    for (size_t i = 0; i < 60; i++) {
        nanosleep(&(struct timespec){0, 1000000 * (long)(i % 4)}, NULL);
        check_loop(p, &l, 20 + i, LARGE_WORK);
    }
    pool_free(p);
}

static void slow_chunk(void *context, size_t chunk, int worker)
{
    if (worker != 0 || chunk % 3 == 0)
        nanosleep(&(struct timespec){0, 50000}, NULL);
    count_chunk(context, chunk, worker);
}

/* The caller may not return while a worker is still at its chunk. */
static void a_loop_waits_for_all(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(7);
    for (size_t i = 0; i < 300; i++) {
        memset(&l, 0, sizeof l);
        l.threads = 7;
        pool_run(p, 12, LARGE_WORK, slow_chunk, &l);
        for (size_t j = 0; j < 12; j++)
            assert_int_equal(l.runs[j], 1);
    }
    pool_free(p);
}

static void small_loops_stay_on_the_caller(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(3);
    check_loop(p, &l, 100, 1);
    assert_int_equal(l.by_worker[0], 100);
    check_loop(p, &l, 1, LARGE_WORK);
    assert_int_equal(l.by_worker[0], 1);
    check_loop(p, &l, 0, LARGE_WORK);
    pool_free(p);
}

static void start_and_stop(void **state)
{
    static loop l;
    (void)state;
    for (int i = 0; i < 100; i++) {
        pool *p = new_pool(1 + i % 7);
        if (i % 3)
            check_loop(p, &l, 10, LARGE_WORK);
        pool_free(p);
    }
    pool_free(NULL);
}

static void note_rounding(void *context, size_t chunk, int worker)
{
    int *modes = context;
    modes[chunk] = fegetround();
    (void)worker;
}

/* Rounding belongs to the number format: workers don't inherit the mode of whoever started them. */
static void workers_round_to_nearest(void **state)
{
    int modes[MOST_CHUNKS];
    (void)state;
    fesetround(FE_UPWARD);
    pool *p = new_pool(4);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 20; i++) {
        pool_run(p, MOST_CHUNKS, LARGE_WORK, note_rounding, modes);
        for (size_t j = 0; j < MOST_CHUNKS; j++)
            assert_int_equal(modes[j], FE_TONEAREST);
    }
    pool_free(p);
}

static void the_environment_says_how_many(void **state)
{
    rapt_error err = {0};
    (void)state;
    setenv("RAPT_THREADS", "5", 1);
    pool *p = pool_new(0, &err);
    assert_int_equal(pool_threads(p), 5);
    pool_free(p);
    unsetenv("RAPT_THREADS");
    p = pool_new(0, &err);
    assert_true(pool_threads(p) >= 1);
    pool_free(p);
    assert_null(pool_new(257, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "257"));
}

/* In a child: without cmocka, which would go on with the other tests. */
static bool loops_in_a_child(void *context)
{
    static loop l;
    pool *p = context;
    for (size_t i = 0; i < 20; i++) {
        memset(&l, 0, sizeof l);
        l.threads = MOST_THREADS;
        pool_run(p, 30, LARGE_WORK, count_chunk, &l);
        for (size_t j = 0; j < 30; j++)
            if (l.runs[j] != 1)
                return false;
    }
    pool_free(p);
    return true;
}

static bool freed_in_a_child(void *context)
{
    pool_free(context);
    return true;
}

/* Children of workers that spin, that fall asleep at that moment, and that are asleep. */
static void children_have_no_workers(void **state)
{
    static loop l;
    (void)state;
    pool *p = new_pool(4);
    for (long i = 0; i < 24; i++) {
        check_loop(p, &l, 20, LARGE_WORK);
        nanosleep(&(struct timespec){0, i % 8 * (i % 8) * 100000}, NULL);
        assert_true(forked_is_fine(i % 3 ? loops_in_a_child : freed_in_a_child, p));
    }
    pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_runs_once),
        cmocka_unit_test(many_loops),
        cmocka_unit_test(loops_are_measured),
        cmocka_unit_test(workers_wake_up),
        cmocka_unit_test(a_loop_waits_for_all),
        cmocka_unit_test(small_loops_stay_on_the_caller),
        cmocka_unit_test(start_and_stop),
        cmocka_unit_test(workers_round_to_nearest),
        cmocka_unit_test(the_environment_says_how_many),
        cmocka_unit_test(children_have_no_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
