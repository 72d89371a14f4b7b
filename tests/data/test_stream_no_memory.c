/* tests/data/test_stream_no_memory.c: every allocation of making a token file, opening it and cutting windows is made to
 * fail in turn: the failure is reported, nothing crashes, nothing is left. Linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/stream.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(type, name, ...) extern type __real_##name(__VA_ARGS__)
REAL(void *, malloc, size_t size);
REAL(void *, calloc, size_t count, size_t size);
REAL(void *, realloc, void *old, size_t size);
REAL(void *, aligned_alloc, size_t alignment, size_t size);
REAL(void, free, void *p);
REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

static long countdown = -1; /* so many more succeed, then one fails; negative: all succeed */
static long failed, live;

static bool fails_now(void)
{
    if (countdown < 0 || countdown-- > 0)
        return false;
    failed++;
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *p);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument);

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
    return __real_pthread_create(thread, attr, start, argument);
}

static char folder[64], text[96], out[96];
static rapt_tokenizer *tokenizer;

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rapt-stream-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(text, sizeof text, "%s/text", folder);
    snprintf(out, sizeof out, "%s/t.tokens", folder);
    tokenizer = rapt_tokenizer_train_characters("hello", 5, NULL);
    FILE *file = fopen(text, "w");
    fputs("hello", file);
    return tokenizer && fclose(file) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_tokenizer_free(tokenizer);
    unlink(text);
    unlink(out);
    return rmdir(folder);
}

static size_t temporaries(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(dir)))
        count += strstr(entry->d_name, ".tmp") != NULL;
    closedir(dir);
    return count;
}

static rapt_code cut(const rapt_token_file *f, rapt_error *err)
{
    rapt_part part = rapt_whole_part(f);
    rapt_windows *w = rapt_windows_new(f, &part, 3, 100, 1, err);
    if (w)
        rapt_windows_random(w, 1);
    rapt_windows_free(w);
    return err->code;
}

static rapt_code from_file(void)
{
    rapt_error err = {0};
    unlink(out);
    rapt_token_file *f = rapt_token_file_ensure(tokenizer, text, out, &err);
    if (f)
        cut(f, &err);
    rapt_token_file_close(f);
    return err.code;
}

static rapt_code from_ids(void)
{
    rapt_error err = {0};
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[]){1, 2, 3, 4}, 4, 5, &err);
    if (f)
        cut(f, &err);
    rapt_token_file_close(f);
    return err.code;
}

/* A first look at a file that is not there may fail for any reason: it is made. */
static void fail_each_allocation(rapt_code (*run)(void), long at_least, long unnoticed)
{
    for (long i = 0;; i++) {
        failed = 0, live = 0;
        countdown = i;
        rapt_code code = run();
        countdown = -1;
        if (live != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", live, i);
        assert_int_equal(temporaries(), 0);
        if (failed == 0) {
            assert_int_equal(code, RAPT_OK);
            assert_true(i >= at_least);
            assert_true(unnoticed >= 0);
            print_message("%ld allocations made to fail\n", i);
            return;
        }
        if (code == RAPT_OK)
            unnoticed--;
        else if (code != RAPT_NO_MEMORY)
            fail_msg("allocation %ld fails, the code is %d", i, code);
    }
}

static void files_survive(void **state)
{
    (void)state;
    fail_each_allocation(from_file, 8, 2); /* the token file that is looked at first, and its path */
}

static void ids_survive(void **state)
{
    (void)state;
    fail_each_allocation(from_ids, 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_survive), cmocka_unit_test(ids_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
