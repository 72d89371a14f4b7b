/* tests/serve/test_explain_memory.c: what /v1/explain plans for the logit lens is at least what it takes as JSON, with short
 * texts of tokens and with long ones. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"

#include "serve/module/explain_memory.h"

#include <jansson.h>
#include <malloc.h>

static size_t json_now, json_peak;

static void *counted_malloc(size_t size)
{
    void *p = malloc(size);
    json_now += p ? malloc_usable_size(p) + sizeof(size_t) : 0;
    json_peak = json_now > json_peak ? json_now : json_peak;
    return p;
}

static void counted_free(void *p)
{
    json_now -= p ? malloc_usable_size(p) + sizeof(size_t) : 0;
    free(p);
}

/* The tree, and the text, which while it grows is there with a copy of half or twice its size. */
static size_t memory_of(const rapt_explanation *e)
{
    char *text;
    size_t size;
    json_peak = json_now = 0;
    assert_int_equal(rapt_explanation_json(e, NULL, &text, &size, NULL), RAPT_OK);
    free(text);
    return json_peak + 3 * size;
}

/* Without the lens and with it: the difference is the lens's. */
static void check_memory(rapt_model *m, const rapt_tokenizer *k, const char *text)
{
    size_t takes[2], counts[2];
    for (int lens = 0; lens < 2; lens++) {
        rapt_explanation *e = case_explain(m, text, EXPLAIN(.lens = lens, .threads = 1));
        takes[lens] = memory_of(e);
        counts[lens] = explain_memory_predictions(e, k, EXPLAIN_KIND_JSON);
        rapt_explanation_free(e);
    }
    assert_in_range(takes[1] - takes[0], (counts[1] - counts[0]) / 10, counts[1] - counts[0]);
    rapt_model_free(m);
}

static void test_memory(void **state)
{
    (void)state;
    rapt_lm_config c = lm_variant(100);
    c.layers = 20;
    rapt_model *m = case_language_model_of(c), *with_long = case_long_words(5000);
    json_set_alloc_funcs(counted_malloc, counted_free);
    check_memory(m, m->language.tokenizer, "hello");
    check_memory(with_long, with_long->translation.target, "w1 w2");
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
