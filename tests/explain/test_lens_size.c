/* tests/explain/test_lens_size.c: how large the logit lens makes a page: the texts of its tokens count, too. What /v1/explain
 * plans for it: tests/serve/test_explain_memory.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/explain_case.h"

#include "explain/explanation.h"
#include "explain/page/page.h"

enum { LETTERS = 600 * 1000, ALL_LETTERS = 2550 * 1000 };

/* ---- the page ------------------------------------------------------------------------------------------------------- */

static size_t size_of_page(const rapt_explanation *e, bool full)
{
    size_t letters;
    json_t *lens = explain_lens_page(e, full), *texts = json_object_get(lens, "texts"), *text;
    const char *id;
    assert_non_null(lens);
    assert_true(page_letters(lens, &letters));
    json_object_foreach(texts, id, text)
        assert_true(*id && *json_string_value(text));
    const size_t top = (size_t)json_integer_value(json_object_get(lens, "top"));
    assert_int_equal(json_object_size(texts) > 0, top > 0);
    assert_true(json_object_size(texts) >= top);
    json_decref(lens);
    return letters;
}

/* Texts of 10,000 letters fit. With longer ones the page keeps fewer tokens for each prediction, or none: with the texts of all
 * tokens the lens would take more than LETTERS. */
static void test_long_texts(void **state)
{
    (void)state;
    const size_t lengths[] = {10 * 1000, 30 * 1000, 700 * 1000};
    for (size_t i = 0; i < 3; i++) {
        rapt_model *m = case_long_words(lengths[i]);
        rapt_explanation *e = case_explain(m, "w1 w2 w3 w4", EXPLAIN(.lens = true, .threads = 1));
        assert_in_range(size_of_page(e, false), 2, LETTERS);
        assert_in_range(size_of_page(e, true), lengths[i], SIZE_MAX);
        assert_true(i == 0 || size_of_page(e, true) > LETTERS);
        rapt_explanation_free(e);
        rapt_model_free(m);
    }
}

static size_t html_size(json_t *explanation)
{
    char *html = NULL;
    size_t size;
    rapt_error err = {0};
    if (page_make(explanation, &html, &size, &err))
        fail_msg("%s", err.message);
    free(html);
    json_decref(explanation);
    return size;
}

/* Steps give up what the lens takes, each "<" of which is six letters. */
static void test_steps_give_way(void **state)
{
    (void)state;
    enum { COUNT = 900 * 1000, OPEN = 90 * 1000 };
    rapt_real *x = malloc(COUNT * sizeof *x);
    char open[OPEN + 1];
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (rapt_real)(i % 997) / 31;
    memset(open, '<', OPEN);
    open[OPEN] = '\0';
    char *letters = page_numbers(x, COUNT);
    json_t *whole = json_pack("{s:[{s:s, s:[i, i, i], s:[s, s, s], s:s, s:b}], s:{s:s, s:{s:s}}}", "steps", "name", "x", "shape",
                              1, 900, 1000, "axes", "batch", "time", "feature", "values_base64", letters, "gradient", 0, "lens",
                              "numbers", "", "texts", "1", open);
    assert_non_null(whole);
    const size_t empty = html_size(json_object());
    assert_in_range(html_size(whole), empty + 6 * OPEN, empty + ALL_LETTERS + 1000);
    free(letters);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_texts), cmocka_unit_test(test_steps_give_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
