/* tests/failing.h: replaces the allocators of one test program, so that a test can make each allocation of a
 * scenario fail in turn, and see blocks that are left. For test_*no_memory.c, one source each, linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create.
 * Calls within shared libraries are not replaced. A group has failing_check_link as its setup or calls it
 * there. A test says
 *     failing f = {.what = "saving", .at_least = 20};
 *     do {
 *         failing_arm(&f);
 *     } while (failing_again(&f, scenario())); */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include "rapt/base.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Sanitizers take some ten times as long: behind the first allocations of a scenario one in nineteen is made to fail there. Each
 * build sees which blocks are left where they are counted; where they are not, a sanitizer alone does, and begins later. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FAILING_ALL = 50, FAILING_ALL_UNCOUNTED = 100, FAILING_STRIDE = 19 };
#else
enum { FAILING_ALL = 0, FAILING_ALL_UNCOUNTED = 0, FAILING_STRIDE = 1 };
#endif

typedef struct {
    const char *what; /* the scenario, for messages */
    long at_least;    /* the test saw too little if fewer are made to fail; 0: any number, and no message */
    long unnoticed;   /* the scenario may succeed in spite of this many of them */
    bool threads;     /* the start of a thread fails in its turn, too */
    bool uncounted;   /* blocks that are left are not looked for */
    long turn;        /* how many allocations succeed before the one that fails; starts at 0 */
} failing;

/* The real ones are weak, so that a program linked without the option says so instead of not linking. */
#define FAILING_WRAP(type, name, ...)                             \
    extern type __real_##name(__VA_ARGS__) __attribute__((weak)); \
    extern type __wrap_##name(__VA_ARGS__)
FAILING_WRAP(void *, malloc, size_t size);
FAILING_WRAP(void *, calloc, size_t count, size_t size);
FAILING_WRAP(void *, realloc, void *old, size_t size);
FAILING_WRAP(void *, aligned_alloc, size_t alignment, size_t size);
FAILING_WRAP(void, free, void *p);
FAILING_WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
             void *argument);

/* Atomic, since workers allocate and free at the same time. */
static atomic_long failing_countdown = -1; /* this many more succeed, then one fails; negative: all succeed */
static atomic_long failing_happened, failing_live;
static bool failing_threads;

static inline bool failing_now(void)
{
    if (atomic_fetch_sub(&failing_countdown, 1) != 0)
        return false;
    failing_happened++;
    errno = ENOMEM;
    return true;
}

/* Counts a block that the replaced free will see. */
static inline void *failing_counted(void *p)
{
    failing_live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return failing_now() ? NULL : failing_counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return failing_now() ? NULL : failing_counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (failing_now())
        return NULL;
    failing_live -= old != NULL;
    return failing_counted(__real_realloc(old, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return failing_now() ? NULL : failing_counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *p)
{
    failing_live -= p != NULL;
    __real_free(p);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *argument)
{
    return failing_threads && failing_now() ? EAGAIN : __real_pthread_create(thread, attr, start, argument);
}

static inline int failing_check_link(void **state)
{
    (void)state;
    if (__real_malloc && __real_pthread_create && __real_free)
        return 0;
    print_error("this test must be linked with --wrap, see tests/failing.h\n");
    return -1;
}

/* From here on, the allocation whose turn it is fails. */
static inline void failing_arm(const failing *f)
{
    failing_threads = f->threads;
    failing_happened = failing_live = 0;
    failing_countdown = f->turn;
}

/* From here on, all succeed. Needed only where a test allocates between its scenario and failing_again. */
static inline void failing_disarm(void)
{
    failing_countdown = -1;
}

/* How many allocations there were since it was last asked, where nothing is armed. */
static inline long failing_allocations(void)
{
    return -1 - atomic_exchange(&failing_countdown, -1);
}

/* Judges a run that ended with this code. Whether another is due: not once no allocation was left to fail. */
static inline bool failing_again(failing *f, rapt_code code)
{
    long happened = failing_happened, left = failing_live;
    failing_disarm();
    if (left != 0 && !f->uncounted)
        fail_msg("%s: %ld blocks are left when allocation %ld fails", f->what, left, f->turn);
    if (happened == 0) {
        assert_int_equal(code, RAPT_OK);
        assert_true(f->turn >= f->at_least);
        if (f->at_least > 0)
            print_message("%s: allocations up to %ld made to fail\n", f->what, f->turn);
        return false;
    }
    bool unnoticed = code == RAPT_OK && f->unnoticed-- > 0;
    if (code != RAPT_ERR_MEMORY && !unnoticed)
        fail_msg("%s: allocation %ld fails, the code is %d", f->what, f->turn, code);
    f->turn += f->turn < (f->uncounted ? FAILING_ALL_UNCOUNTED : FAILING_ALL) ? 1 : FAILING_STRIDE;
    return true;
}

#endif
