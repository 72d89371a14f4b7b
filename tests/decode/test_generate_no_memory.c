/* tests/decode/test_generate_no_memory.c: every allocation of generating a text, and of looking at what a model expects,
 * is made to fail in turn: the failure is reported, nothing crashes, nothing is left. Linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=pthread_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"

#include "decode/prompt.h"

#include <pthread.h>

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

static rapt_tokenizer *tokenizer;
static rapt_lm *model;

static int set_up(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(100);
    tokenizer = case_characters();
    model = lm_model(&c);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rapt_tokenizer_free(tokenizer);
    rapt_lm_free(model);
    return 0;
}

/* Long enough for tokens and text to outgrow their first memory. */
static rapt_code text(rapt_tape *t, rapt_error *err)
{
    rapt_generate_options o = {{.temperature = 1, .top_k = 9}, 150, (const char *[]){"xyz", "zz"}, 2};
    free(rapt_generate_text(t, model, tokenizer, "hello", 5, &o, NULL, err));
    return err->code;
}

static rapt_code expectation(rapt_tape *t, rapt_error *err)
{
    prompt p;
    int32_t ids[3];
    double probabilities[3];
    rapt_code code = prompt_encode(model, tokenizer, "hello", 5, &p, err);
    if (!code)
        code = prompt_likeliest(t, model, &p, 2, 3, ids, probabilities, err);
    free(p.ids);
    return code;
}

static rapt_code with_tape(rapt_code (*run)(rapt_tape *, rapt_error *))
{
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(&(rapt_tape_options){.threads = 1}, &err);
    rapt_code code = t ? run(t, &err) : err.code;
    rapt_tape_free(t);
    return code;
}

static void fail_each_allocation(rapt_code (*run)(rapt_tape *, rapt_error *), long at_least)
{
    for (long i = 0;; i++) {
        failed = 0, live = 0;
        countdown = i;
        rapt_code code = with_tape(run);
        countdown = -1;
        if (live != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", live, i);
        if (failed == 0) {
            assert_int_equal(code, RAPT_OK);
            assert_true(i >= at_least);
            print_message("%ld allocations made to fail\n", i);
            return;
        }
        if (code != RAPT_NO_MEMORY)
            fail_msg("allocation %ld fails, the code is %d", i, code);
    }
}

static void texts_survive(void **state)
{
    (void)state;
    fail_each_allocation(text, 15);
}

static void expectations_survive(void **state)
{
    (void)state;
    fail_each_allocation(expectation, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_survive), cmocka_unit_test(expectations_survive)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
