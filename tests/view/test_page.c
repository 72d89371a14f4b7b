/* test_page.c: the page of rapt explain --html: the data arrive in it unharmed, it is whole or not there, and it refuses
 * what is no explanation. For src/view/page/page.c; what a browser makes of it: check_page.sh, for which
 * `test_page IN.json OUT.html` writes a page. */
#define _GNU_SOURCE
#include "view/page/page.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

#define MEGABYTE (1 << 20)
#define DATA_OPENS "<script type=\"application/json\" id=\"data\">"

static char page_path[FOLDER_ROOM];

static int make_folder(void **state)
{
    int code = folder_make(state);
    snprintf(page_path, sizeof page_path, "%s", folder_in("page.html"));
    return code;
}

static int remove_folder(void **state)
{
    unlink(page_path);
    return folder_remove_empty(state); /* fails where a temporary file was left behind */
}

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

static char *page_text(void)
{
    char *text;
    size_t size;
    assert_int_equal(file_read(page_path, 8 * MEGABYTE, &text, &size, NULL), RAPT_OK);
    assert_int_equal(strlen(text), size);
    return text;
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

/* Writes and reads back. The caller's explanation is given back to the heap. */
static json_t *through_page(json_t *explanation)
{
    rapt_error err = {0};
    assert_int_equal(page_write(page_path, explanation, &err), RAPT_OK);
    json_decref(explanation);
    char *page = page_text();
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
    assert_int_equal(page_write(page_path, explanation, &err), code);
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
    assert_int_equal(page_write(page_path, explanation, NULL), RAPT_OK);
    assert_true(json_equal(explanation, copy));
    json_decref(copy);
    json_decref(explanation);
}

/* No address of anything outside but the name of SVG, and a policy that forbids the browser to load. */
static void test_needs_nothing_else(void **state)
{
    (void)state;
    json_decref(through_page(explanation_of("a", "[1]", "[1]")));
    char *page = page_text();
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
    assert_int_equal(page_write(page_path, explanation, &err), code);
    assert_string_equal(err.message, message);
    json_decref(explanation);
}

/* What stood there before stays, and nothing else appears. */
static void test_refuses_what_is_no_number(void **state)
{
    (void)state;
    json_decref(through_page(explanation_of("before", "[1]", "[1]")));
    assert_refused("[2]", "[1, true]", RAPT_ERR_FORMAT, "step embedding: value 1 is not a number");
    assert_refused("[1]", "[\"1\"]", RAPT_ERR_FORMAT, "step embedding: value 0 is not a number");
    assert_refused("[2, 2]", "[1, 2, 3]", RAPT_ERR_SHAPE, "step embedding: 3 values where its shape wants 4");
    assert_refused("[1]", "[]", RAPT_ERR_SHAPE, "step embedding: 0 values where its shape wants 1");
    char *page = page_text();
    json_t *data = data_of(page);
    assert_string_equal(first_token(data), "before");
    json_decref(data);
    free(page);
    assert_int_equal(folder_entries(folder_path), 1);
}

static void test_paths_that_cannot_be_written(void **state)
{
    (void)state;
    char path[400];
    rapt_error err = {0};
    json_t *explanation = explanation_of("a", "[1]", "[1]");
    snprintf(path, sizeof path, "%s/absent/page.html", folder_path);
    assert_int_equal(page_write(path, explanation, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, path));
    err = (rapt_error){0};
    assert_int_equal(page_write("", explanation, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "the output path is empty");
    int before = folder_entries(folder_path);
    snprintf(path, sizeof path, "%s/taken", folder_path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_not_equal(page_write(path, explanation, NULL), RAPT_OK);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(folder_entries(folder_path), before);
    json_decref(explanation);
}

static int write_page(const char *from, const char *to)
{
    rapt_error err = {0};
    json_t *explanation = json_load_file(from, 0, NULL);
    if (!explanation || page_write(to, explanation, &err) != RAPT_OK)
        fprintf(stderr, "%s: %s\n", from, explanation ? err.message : "no JSON");
    bool done = explanation && !err.code;
    json_decref(explanation);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
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
        cmocka_unit_test(test_paths_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
