/* tests/io/test_model_no_memory.c: every allocation of saving and loading a model folder is made to fail in turn: the
 * failure is reported, nothing crashes, nothing leaks.
 * For src/io/model*.c and config_*.c and what they stand on. The JSON library's own allocations are counted, but never
 * fail: jansson 2.14 then writes where it must not. Linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>

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

static long countdown = -1; /* so many more succeed, then one fails */
static long failed, live;

static bool fails_now(void)
{
    bool now = countdown-- == 0;
    failed += now;
    if (now)
        errno = ENOMEM;
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

static void *json_malloc(size_t size)
{
    return counted(__real_malloc(size));
}

static int set_up(void **state)
{
    if (!__real_malloc || !__real_pthread_create || !__real_free) {
        print_error("this test must be linked with --wrap, see its first lines\n");
        return -1;
    }
    json_set_alloc_funcs(json_malloc, free);
    return make_folder(state);
}

static rapt_code save_once(const rapt_model *m)
{
    rapt_error err = {0};
    rapt_code code = rapt_model_save_config(m, folder, &err);
    assert_int_equal(code, err.code);
    return code;
}

static rapt_code load_once(const rapt_model *like)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load_task(folder, like->task, &err);
    assert_true((m != NULL) == (err.code == RAPT_OK));
    rapt_model_free(m);
    return err.code;
}

static void fail_each_allocation(const char *what, rapt_code (*act)(const rapt_model *), const rapt_model *m)
{
    for (long i = 0;; i++) {
        failed = 0;
        live = 0;
        countdown = i;
        rapt_code code = act(m);
        long happened = failed, left = live;
        countdown = -1;
        if (left != 0)
            fail_msg("%s: %ld blocks are left when allocation %ld fails", what, left, i);
        if (happened == 0) {
            assert_int_equal(code, RAPT_OK);
            assert_true(i > 5);
            print_message("%s: %ld allocations made to fail\n", what, i);
            return;
        }
        if (code != RAPT_NO_MEMORY)
            fail_msg("%s: allocation %ld fails, the code is %d", what, i, code);
    }
}

static void language_models(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(24);
    rapt_model *m = language_model(&c, characters('A', MODEL_VOCAB));
    save(m);
    fail_each_allocation("saving a language model", save_once, m);
    fail_each_allocation("loading a language model", load_once, m);
    rapt_model_free(m);
}

static void translation_models(void **state)
{
    (void)state;
    rapt_model *m = translation_model();
    save(m);
    fail_each_allocation("saving a translation model", save_once, m);
    fail_each_allocation("loading a translation model", load_once, m);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(language_models, empty_folder),
        cmocka_unit_test_teardown(translation_models, empty_folder),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
