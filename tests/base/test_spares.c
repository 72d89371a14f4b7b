/* tests/base/test_spares.c: what is given is kept, up to a bound, comes back once, and belongs to one thread at a time. For
 * src/base/spares.c.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/spares.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 7, TURNS = 20000, MANY = 100 };

static size_t freed;

static void count_free(void *spare)
{
    freed++;
    free(spare);
}

static void one_comes_back(void **state)
{
    (void)state;
    spares *s = spares_new();
    int *x = malloc(sizeof *x), *y = malloc(sizeof *y);
    assert_true(s && x && y);
    assert_null(spares_take(s));
    assert_null(spares_give(s, x));
    assert_ptr_equal(spares_take(s), x);
    assert_null(spares_take(s));
    assert_null(spares_give(s, x));
    assert_null(spares_give(s, y));
    freed = 0;
    spares_free(s, count_free);
    assert_int_equal(freed, 2);
    spares_free(NULL, count_free);
}

/* A thread finds room for a few only; what it doesn't is the caller's again. */
static void there_is_a_bound(void **state)
{
    (void)state;
    static int many[MANY];
    size_t kept = 0, taken = 0;
    spares *s = spares_new();
    assert_non_null(s);
    for (size_t i = 0; i < MANY; i++) {
        void *back = spares_give(s, &many[i]);
        assert_true(!back || back == &many[i]);
        kept += !back;
    }
    assert_in_range(kept, 1, MANY / 2);
    for (int *x; (x = spares_take(s)); taken++)
        assert_in_range(x - many, 0, MANY - 1);
    assert_int_equal(taken, kept);
    spares_free(s, count_free);
}

typedef struct use {
    spares *s;
    atomic_int made, broken;
} use;

/* Each writes its own number into what it holds: nobody else may. */
static void *use_spares(void *context)
{
    use *u = context;
    for (int i = 0; i < TURNS; i++) {
        int *held = spares_take(u->s);
        if (!held) {
            held = malloc(sizeof *held);
            atomic_fetch_add(&u->made, 1);
        }
        *held = i;
        if (i % 16 == 0)
            thread_yield();
        if (*held != i)
            atomic_fetch_add(&u->broken, 1);
        void *more = spares_give(u->s, held);
        if (more) {
            free(more);
            atomic_fetch_sub(&u->made, 1);
        }
    }
    return NULL;
}

static void threads_do_not_share_one(void **state)
{
    (void)state;
    thread_handle threads[THREADS];
    use u = {.s = spares_new()};
    assert_non_null(u.s);
    for (size_t i = 0; i < THREADS; i++)
        assert_true(thread_start(&threads[i], use_spares, &u));
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    freed = 0;
    spares_free(u.s, count_free);
    assert_int_equal(freed, atomic_load(&u.made));
    assert_int_equal(atomic_load(&u.broken), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_comes_back), cmocka_unit_test(there_is_a_bound),
                                       cmocka_unit_test(threads_do_not_share_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
