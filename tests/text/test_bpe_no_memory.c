/* test_bpe_no_memory.c: every allocation of the BPE trainer, and every thread that it starts, is made to fail in turn:
 * the failure is reported, nothing crashes, nothing leaks.
 * For src/text/bpe_train.c and what it stands on, PCRE2's own allocations left out. Linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create */
#include "text/bpe_train.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Weak, so that a program linked without the option says so instead of not linking. */
#define REAL(type, name, ...) extern type __real_##name(__VA_ARGS__) __attribute__((weak))
REAL(void *, malloc, size_t size);
REAL(void *, calloc, size_t count, size_t size);
REAL(void *, realloc, void *old, size_t size);
REAL(void *, aligned_alloc, size_t alignment, size_t size);
REAL(void, free, void *p);
REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *p);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

/* Workers allocate at the same time. */
static atomic_long countdown; /* so many more succeed, then one fails */
static atomic_long failed, live;

static bool fails_now(void)
{
    bool now = atomic_fetch_sub(&countdown, 1) == 0;
    failed += now;
    return now;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails_now())
        return NULL;
    live -= old != NULL;
    return counted(__real_realloc(old, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    return fails_now() ? EAGAIN : __real_pthread_create(thread, attr, start, argument);
}

static int check_link(void **state)
{
    (void)state;
    if (__real_malloc && __real_pthread_create && __real_free)
        return 0;
    print_error("this test must be linked with --wrap, see its first lines\n");
    return -1;
}

/* Words of four letters: enough distinct ones for every table to grow, and chunks for more than one thread. */
static char text[150000];

static void fill_text(void)
{
    uint64_t x = 5;
    for (size_t i = 0; i < sizeof text; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        text[i] = i % 5 ? (char)('a' + x % 20) : ' ';
    }
}

static rapt_code train(const split *cut, int threads)
{
    bpe_merge *merges;
    size_t count;
    rapt_error err = {0};
    rapt_bpe_options o = {.vocab_size = 256 + 300, .threads = threads};
    rapt_code code = bpe_train(text, sizeof text, cut, &o, &merges, &count, &err);
    assert_int_equal(code, err.code);
    assert_true(code == RAPT_OK ? count == 300 : merges == NULL);
    free(merges);
    return code;
}

static void fail_each_allocation(const split *cut, int threads)
{
    for (long i = 0;; i++) {
        failed = 0;
        live = 0;
        countdown = i;
        rapt_code code = train(cut, threads);
        long happened = failed, left = live;
        countdown = -1;
        if (left != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", left, i);
        if (happened == 0) {
            assert_int_equal(code, RAPT_OK);
            assert_true(i > 30);
            print_message("%d threads: %ld allocations made to fail\n", threads, i);
            return;
        }
        if (code != RAPT_NO_MEMORY)
            fail_msg("allocation %ld fails, the code is %d", i, code);
    }
}

static void test_training(void **state)
{
    (void)state;
    countdown = -1;
    fill_text();
    split *cut = split_new(SPLIT_GPT2, NULL);
    assert_non_null(cut);
    for (int threads = 1; threads < 4; threads++)
        fail_each_allocation(cut, threads);
    split_free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_training)};
    return cmocka_run_group_tests(tests, check_link, NULL);
}
