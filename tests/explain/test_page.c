/* test_page.c: the page of rapt explain --html: the data arrive in it unharmed, and it refuses
 * what is no explanation. For src/explain/page/page.c; what a browser makes of it: check_page.sh, for which
 * `test_page IN.json OUT.html` writes a page. */
#define _GNU_SOURCE
#include "explain/page/page.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DATA_OPENS "<script type=\"application/json\" id=\"data\">"

/* One step of `values`, and a token. */
static json_t *explanation_of(const char *token, const char *shape, const char *values)
{
    char *text;
    assert_true(asprintf(&text,
                         "{\"rapt\":\"explain\",\"version\":1,\"model\":{\"kind\":\"language_model\"},"
                         "\"sequences\":{\"text\":[{\"position\":0,\"id\":5,\"text\":\"\"}]},\"output\":\"\","
                         "\"steps\":[{\"name\":\"embedding\",\"shape\":%s,\"min\":0.1,\"values\":%s},"
                         "{\"name\":\"output\",\"shape\":[1,1,9]}],\"predictions\":[]}", shape, values) > 0);
    json_t *explanation = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(explanation);
    json_t *first = json_array_get(json_object_get(json_object_get(explanation, "sequences"), "text"), 0);
    assert_int_equal(json_object_set_new(first, "text", json_string(token)), 0);
    return explanation;
}

/* The page of an explanation, to be freed; it has no NUL within it. */
static char *page_text(json_t *explanation)
{
    char *html = NULL;
    size_t size = 0;
    rapt_error err = {0};
    assert_int_equal(page_make(explanation, &html, &size, &err), RAPT_OK);
    assert_int_equal(strlen(html), size);
    return html;
}

/* The data of a page as a browser finds it: up to the next tag that ends a script, without a comment before it. */
static json_t *data_of(const char *page)
{
    const char *start = strstr(page, DATA_OPENS);
    assert_non_null(start);
    start += strlen(DATA_OPENS);
    const char *end = strcasestr(start, "</script");
    const char *comment = strstr(start, "<!--");
    assert_non_null(end);
    assert_true(!comment || comment > end);
    json_t *data = json_loadb(start, (size_t)(end - start), 0, NULL);
    assert_non_null(data);
    return data;
}

/* Makes a page and reads it back. The caller's explanation is given back to the heap. */
static json_t *through_page(json_t *explanation)
{
    char *page = page_text(explanation);
    json_decref(explanation);
    json_t *data = data_of(page);
    free(page);
    return data;
}

static const char *first_token(json_t *data)
{
    json_t *text = json_object_get(json_object_get(data, "sequences"), "text");
    return json_string_value(json_object_get(json_array_get(text, 0), "text"));
}

static const char *first_values(json_t *data)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(data, "steps"), 0), "values"));
}

static void test_tokens_arrive(void **state)
{
    (void)state;
    static const char *const tokens[] = {
        "</script><script>alert(1)</script>", "<!--", "<!-- <script>", "</SCRIPT >", "]]>", "&lt;&amp;", "\"\\'`${1}",
        "\n\r\t\x01\x7f", "\xe2\x80\xa8\xe2\x80\xa9", "e\xcc\x81 \xe6\x97\xa5\xe6\x9c\xac \xd8\xb3\xd9\x84 \xf0\x9f\x98\x80",
        "<", "<<", "", "@data@ @style@"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        json_t *data = through_page(explanation_of(tokens[i], "[1]", "[0]"));
        assert_string_equal(first_token(data), tokens[i]);
        json_decref(data);
    }
}

/* IEEE 754 by hand, lowest byte first: 1 is 00 00 80 3f, -2 is 00 00 00 c0, 0.1 is cd cc cc 3d; the infinities are
 * 7f80 0000 and ff80 0000, and a NaN has more bits behind 7f80. */
static void test_numbers_arrive(void **state)
{
    (void)state;
    json_t *data = through_page(explanation_of("x", "[1,3]", "[1, -2.0, 0.1]"));
    assert_string_equal(first_values(data), "AACAPwAAAMDNzMw9");
    assert_true(json_number_value(json_object_get(json_array_get(json_object_get(data, "steps"), 0), "min")) == 0.1);
    assert_null(json_object_get(json_array_get(json_object_get(data, "steps"), 1), "values"));
    json_decref(data);
    data = through_page(explanation_of("x", "[2]", "[\"inf\", \"-inf\"]"));
    assert_string_equal(first_values(data), "AACAfwAAgP8=");
    json_decref(data);
    data = through_page(explanation_of("x", "[]", "[\"nan\"]"));
    assert_string_equal(first_values(data), "AADAfw==");
    json_decref(data);
}

static json_t *with_letters(const char *shape, const char *letters)
{
    json_t *explanation = explanation_of("a", shape, "[1]");
    json_t *step = json_array_get(json_object_get(explanation, "steps"), 0);
    assert_int_equal(json_object_del(step, "values"), 0);
    assert_int_equal(json_object_set_new(step, "values_base64", json_string(letters)), 0);
    return explanation;
}

/* The same letters as above, made beforehand. */
static void test_letters_arrive(void **state)
{
    (void)state;
    rapt_real x[] = {1, -2, 0.1f};
    char *letters = page_numbers(x, 3), *none = page_numbers(x, 0);
    assert_string_equal(letters, "AACAPwAAAMDNzMw9");
    assert_string_equal(none, "");
    json_t *explanation = with_letters("[1,3]", letters), *copy = json_deep_copy(explanation);
    json_incref(explanation);
    json_t *data = through_page(explanation);
    assert_string_equal(first_values(data), letters);
    assert_null(json_object_get(json_array_get(json_object_get(data, "steps"), 0), "values_base64"));
    assert_true(json_equal(explanation, copy));
    json_decref(explanation);
    json_decref(copy);
    json_decref(data);
    free(letters);
    free(none);
}

/* More numbers than become letters at once: 1 is 00 00 80 3f, so three of them are "AACAPwAAgD8AAIA/". */
static void test_many_letters(void **state)
{
    (void)state;
    enum { COUNT = 3 * 1000 };
    static rapt_real x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    char *letters = page_numbers(x, COUNT);
    assert_int_equal(strlen(letters), 16 * 1000);
    for (int i = 0; i < 1000; i++)
        assert_memory_equal(letters + 16 * i, "AACAPwAAgD8AAIA/", 16);
    json_t *data = through_page(with_letters("[1000,3]", letters));
    assert_string_equal(first_values(data), letters);
    json_decref(data);
    free(letters);
}

static void assert_letters_refused(const char *shape, const char *letters, rapt_code code, const char *message)
{
    rapt_error err = {0};
    json_t *explanation = with_letters(shape, letters);
    char *html = NULL;
    assert_int_equal(page_make(explanation, &html, NULL, &err), code);
    assert_null(html);
    assert_string_equal(err.message, message);
    json_decref(explanation);
}

static void test_refuses_letters_that_are_no_numbers(void **state)
{
    (void)state;
    static const char no_floats[] = "step embedding: values_base64 is not base64 of floats";
    assert_letters_refused("[1]", "AACA!w==", RAPT_ERR_FORMAT, no_floats);
    assert_letters_refused("[1]", "AACAPw", RAPT_ERR_FORMAT, no_floats);
    assert_letters_refused("[1]", "AACA", RAPT_ERR_FORMAT, no_floats);
    assert_letters_refused("[2]", "AACAPw==", RAPT_ERR_SHAPE, "step embedding: 1 values where its shape wants 2");
    assert_letters_refused("[1]", "", RAPT_ERR_SHAPE, "step embedding: 0 values where its shape wants 1");
}

static void test_explanation_is_left_as_it_is(void **state)
{
    (void)state;
    json_t *explanation = explanation_of("a", "[2]", "[1, 2]"), *copy = json_deep_copy(explanation);
    free(page_text(explanation));
    assert_true(json_equal(explanation, copy));
    json_decref(copy);
    json_decref(explanation);
}

/* No address of anything outside but the name of SVG, and a policy that forbids the browser to load. */
static void test_needs_nothing_else(void **state)
{
    (void)state;
    json_t *explanation = explanation_of("a", "[1]", "[1]");
    char *page = page_text(explanation);
    json_decref(explanation);
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(strstr(page, "</html>"));
    for (const char *at = page; (at = strstr(at, "://")) != NULL; at += 3)
        assert_int_equal(strncmp(at, "://www.w3.org/2000/svg\"", 23), 0);
    static const char *const forbidden[] = {"@import", "url(", "<link rel=\"stylesheet", " src=", "fetch(", "XMLHttpRequest",
                                            "eval(", "innerHTML", "@style@", "@script@", "@data@"};
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        assert_null(strstr(page, forbidden[i]));
    free(page);
}

static void assert_refused(const char *shape, const char *values, rapt_code code, const char *message)
{
    rapt_error err = {0};
    json_t *explanation = explanation_of("a", shape, values);
    char *html = NULL;
    assert_int_equal(page_make(explanation, &html, NULL, &err), code);
    assert_null(html);
    assert_string_equal(err.message, message);
    json_decref(explanation);
}

static void test_refuses_what_is_no_number(void **state)
{
    (void)state;
    assert_refused("[2]", "[1, true]", RAPT_ERR_FORMAT, "step embedding: value 1 is not a number");
    assert_refused("[1]", "[\"1\"]", RAPT_ERR_FORMAT, "step embedding: value 0 is not a number");
    assert_refused("[2, 2]", "[1, 2, 3]", RAPT_ERR_SHAPE, "step embedding: 3 values where its shape wants 4");
    assert_refused("[1]", "[]", RAPT_ERR_SHAPE, "step embedding: 0 values where its shape wants 1");
}

static int write_page(const char *from, const char *to)
{
    rapt_error err = {0};
    char *html = NULL;
    size_t size = 0;
    json_t *explanation = json_load_file(from, 0, NULL);
    rapt_code code = explanation ? page_make(explanation, &html, &size, &err) : rapt_fail(&err, RAPT_ERR_FORMAT, "no JSON");
    if (!code)
        code = file_write_atomic(to, html, size, &err);
    if (code)
        fprintf(stderr, "%s: %s\n", from, err.message);
    free(html);
    json_decref(explanation);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_page(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_arrive),
        cmocka_unit_test(test_numbers_arrive),
        cmocka_unit_test(test_letters_arrive),
        cmocka_unit_test(test_many_letters),
        cmocka_unit_test(test_refuses_letters_that_are_no_numbers),
        cmocka_unit_test(test_explanation_is_left_as_it_is),
        cmocka_unit_test(test_needs_nothing_else),
        cmocka_unit_test(test_refuses_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
