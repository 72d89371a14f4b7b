/* tests/serve/test_fields.c: the fields of a request's body: what is taken, in JSON and in forms, and what is refused, with the
 * name of the field at fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/exchange_case.h"

#include "serve/module/fields.h"

static const char FORM[] = "application/x-www-form-urlencoded";

static exchange *open_body(fields *f, const char *type, const char *body, size_t size, request_error *error)
{
    exchange *x = case_request("POST", "/", type, body, size);
    *error = (request_error){0};
    fields_read(f, x, true, error);
    return x;
}

static void close_body(fields *f, exchange *x)
{
    fields_free(f);
    exchange_release(x);
}

/* Reads what a made-up endpoint knows. */
static void read_known(fields *f)
{
    static const char *const words[] = {"red", "green"};
    fields inner;
    size_t count;
    fields_required_text(f, "text");
    fields_word(f, "word", words, 2, 0);
    fields_flag(f, "flag", false);
    fields_integer(f, "integer", 0, -5, 100);
    fields_number(f, "number", 0, 0, 1);
    free(fields_texts(f, "texts", 1, 3, &count, NULL));
    if (fields_object(f, "object", &inner)) {
        fields_flag(&inner, "inside", false);
        fields_finish(&inner);
    }
    fields_free(&inner);
    fields_ignore(f, "user");
    fields_neutral(f, "penalty", "[0, null]");
    fields_neutral(f, "tools", "[[]]");
}

static void values_come_out(void **state)
{
    (void)state;
    static const char body[] = "{\"text\": \"a\\u00e9\", \"flag\": true, \"integer\": -5, \"number\": 0.25, "
                               "\"texts\": [\"x\", \"y\"], \"large\": 9007199254740993, \"whole\": 3.0, \"one\": \"z\", "
                               "\"nothing\": null, \"word\": \"green\"}";
    static const char *const words[] = {"red", "green"};
    request_error error;
    fields f;
    size_t count;
    bool list;
    exchange *x = open_body(&f, "Application/JSON; charset=utf-8", body, strlen(body), &error);
    assert_string_equal(fields_text(&f, "text"), "a\xC3\xA9");
    assert_true(fields_flag(&f, "flag", false));
    assert_true(fields_flag(&f, "absent", true));
    assert_int_equal(fields_integer(&f, "integer", 0, -5, 5), -5);
    assert_int_equal(fields_integer(&f, "large", 0, 0, INT64_MAX), 9007199254740993);
    assert_int_equal(fields_integer(&f, "whole", 0, 0, 9), 3);
    assert_int_equal(fields_integer(&f, "nothing", 7, 0, 9), 7);
    assert_true(fields_number(&f, "number", 0, 0, 1) == 0.25);
    assert_int_equal(fields_word(&f, "word", words, 2, 0), 1);
    assert_int_equal(fields_word(&f, "absent", words, 2, 9), 9);
    const char **texts = fields_texts(&f, "texts", 1, 2, &count, &list);
    assert_int_equal(count, 2);
    assert_string_equal(texts[1], "y");
    assert_true(list);
    free(texts);
    texts = fields_texts(&f, "one", 1, 2, &count, &list);
    assert_int_equal(count, 1);
    assert_string_equal(texts[0], "z");
    assert_false(list);
    free(texts);
    assert_null(fields_texts(&f, "absent", 1, 2, &count, &list));
    assert_true(fields_finish(&f));
    close_body(&f, x);
}

static void forms_are_the_same(void **state)
{
    (void)state;
    static const char body[] = "q=a+b%26%C3%A9&q=&n=12&x=0.5&yes=1&no=false&&bare&q=c";
    request_error error;
    fields f;
    size_t count;
    bool list;
    exchange *x = open_body(&f, FORM, body, strlen(body), &error);
    const char **texts = fields_texts(&f, "q", 1, 3, &count, &list);
    assert_int_equal(count, 3);
    assert_string_equal(texts[0], "a b&\xC3\xA9");
    assert_string_equal(texts[1], "");
    assert_string_equal(texts[2], "c");
    assert_true(list);
    free(texts);
    assert_int_equal(fields_integer(&f, "n", 0, 0, 20), 12);
    assert_true(fields_number(&f, "x", 0, 0, 1) == 0.5);
    assert_true(fields_flag(&f, "yes", false));
    assert_false(fields_flag(&f, "no", true));
    assert_string_equal(fields_text(&f, "bare"), "");
    assert_true(fields_finish(&f));
    close_body(&f, x);
}

typedef struct mistake {
    const char *type, *body;
    int status;
    const char *param, *says; /* what the message has in it */
} mistake;

static void check_mistake(const mistake *m, size_t size)
{
    request_error error;
    fields f;
    exchange *x = open_body(&f, m->type, m->body, size, &error);
    read_known(&f);
    const bool fine = fields_finish(&f);
    if (fine != !m->status || error.status != m->status || (m->status && !strstr(error.message, m->says)) ||
        strcmp(error.param, m->param))
        fail_msg("%s: %d, \"%s\", %s", m->body, error.status, error.param, error.message);
    close_body(&f, x);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char json[] = "application/json";
    static const mistake mistakes[] = {
        {json, "{\"text\": \"a\"}", 0, "", ""},
        {NULL, "{\"text\": \"a\"}", 0, "", ""},
        {json, "{\"text\": \"a\", \"user\": [1], \"penalty\": 0.0, \"tools\": [], \"object\": {\"inside\": false}}", 0, "", ""},
        {json, "", 400, "", "not JSON"},
        {json, "{", 400, "", "not JSON"},
        {json, "{\"text\": \"a\"} x", 400, "", "not JSON: line 1, column"},
        {json, "[1]", 400, "", "not a list"},
        {json, "\"text\"", 400, "", "not JSON"},
        {json, "{\"text\": \"a\", \"text\": \"b\"}", 400, "", "text"},
        {json, "{\"text\": \"a\\u0000b\"}", 400, "", "\\u0000"},
        {json, "{\"te\\u0000xt\": \"a\"}", 400, "", "\\u0000"},
        {json, "{\"text\": \"\xFF\"}", 400, "", "UTF-8"},
        {json, "{\"text\": \"\\ud800\"}", 400, "", "not JSON"},
        {json, "{\"text\": \"a\", \"number\": 1e999}", 400, "", "not JSON"},
        {json, "{\"text\": \"a\", \"integer\": 99999999999999999999}", 400, "", "not JSON"},
        {json, "{\"text\": \"a\", \"number\": NaN}", 400, "", "not JSON"},
        {json, "{\"text\": 5}", 400, "text", "text: a string is expected, not an integer"},
        {json, "{}", 400, "text", "text: this field is required"},
        {json, "{\"text\": null}", 400, "text", "required"},
        {json, "{\"text\": \"a\", \"flag\": 1}", 400, "flag", "a boolean"},
        {json, "{\"text\": \"a\", \"flag\": \"true\"}", 400, "flag", "a boolean"},
        {json, "{\"text\": \"a\", \"integer\": 1.5}", 400, "integer", "1.5"},
        {json, "{\"text\": \"a\", \"integer\": \"1\"}", 400, "integer", "an integer is expected"},
        {json, "{\"text\": \"a\", \"integer\": 101}", 400, "integer", "between -5 and 100"},
        {json, "{\"text\": \"a\", \"integer\": 1e300}", 400, "integer", "an integer is expected"},
        {json, "{\"text\": \"a\", \"number\": 1.01}", 400, "number", "between 0 and 1"},
        {json, "{\"text\": \"a\", \"word\": \"blue\"}", 400, "word", "red or green"},
        {json, "{\"text\": \"a\", \"texts\": []}", 400, "texts", "0 texts"},
        {json, "{\"text\": \"a\", \"texts\": [\"\", \"\", \"\", \"\"]}", 400, "texts", "4 texts"},
        {json, "{\"text\": \"a\", \"texts\": [1]}", 400, "texts", "a list of strings"},
        {json, "{\"text\": \"a\", \"texts\": {}}", 400, "texts", "a string or a list of strings"},
        {json, "{\"text\": \"a\", \"object\": 1}", 400, "object", "an object is expected"},
        {json, "{\"text\": \"a\", \"object\": {\"inside\": 1}}", 400, "object.inside", "a boolean"},
        {json, "{\"text\": \"a\", \"object\": {\"other\": null}}", 400, "object.other", "not supported"},
        {json, "{\"text\": \"a\", \"penalty\": 0.5}", 400, "penalty", "0.5 is not supported"},
        {json, "{\"text\": \"a\", \"tools\": [{}]}", 400, "tools", "not supported"},
        {json, "{\"text\": \"a\", \"temperatur\": 1}", 400, "temperatur", "this field is not supported"},
        {json, "{\"text\": \"a\", \"x\\n\\u001b[31m\": 1}", 400, "x??[31m", "not supported"},
        {"text/plain", "{\"text\": \"a\"}", 415, "", "text/plain"},
        {"multipart/form-data; boundary=x", "--x", 415, "", "multipart/form-data"},
        {FORM, "text=a", 0, "", ""},
        {FORM, "text=a%4", 400, "", "hexadecimal"},
        {FORM, "text=a%", 400, "", "hexadecimal"},
        {FORM, "text=%zz", 400, "", "hexadecimal"},
        {FORM, "text=%00", 400, "", "NUL"},
        {FORM, "text=%FF", 400, "", "UTF-8"},
        {FORM, "te%ffxt=a", 400, "", "UTF-8"},
        {FORM, "text=a&text=b", 400, "text", "not a list"},
        {FORM, "text=a&integer=12x", 400, "integer", "\"12x\""},
        {FORM, "text=a&integer=", 400, "integer", "an integer"},
        {FORM, "text=a&number=nan", 400, "number", "a number"},
        {FORM, "text=a&number=0x1p-2", 400, "number", "a number"},
        {FORM, "text=a&flag=yes", 400, "flag", "a boolean"},
        {FORM, "text=a&other=1", 400, "other", "not supported"},
        {FORM, "", 400, "text", "required"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        check_mistake(&mistakes[i], strlen(mistakes[i].body));
    check_mistake(&(mistake){json, "{\"text\": \"a\0b\"}", 400, "", "not JSON"}, 15);
}

/* The error that came first, whatever comes later. */
static void the_first_error_stays(void **state)
{
    (void)state;
    request_error error;
    fields f;
    exchange *x = open_body(&f, NULL, "{\"a\": 1, \"b\": 2}", 16, &error);
    fields_text(&f, "b");
    fields_text(&f, "a");
    assert_false(fields_finish(&f));
    assert_string_equal(error.param, "b");
    close_body(&f, x);
}

/* Deep nesting neither ends the stack nor the patience. */
static void depth_is_bounded(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    request_error error;
    fields f;
    char *body = malloc(2 * DEPTH);
    memset(body, '[', DEPTH);
    memset(body + DEPTH, ']', DEPTH);
    exchange *x = open_body(&f, NULL, body, 2 * DEPTH, &error);
    assert_int_equal(error.status, 400);
    assert_non_null(strstr(error.message, "not JSON"));
    free(body);
    close_body(&f, x);
}

/* A body that is cut anywhere, or has a byte changed, is taken or refused, and nothing else. */
static void mutations_are_survived(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"text\": \"a\\u00e9\", \"flag\": true, \"integer\": -5, \"number\": 0.25, \"object\": {\"inside\": true}, "
        "\"tools\": []}",
        "text=a+b%26%C3%A9&texts=x&integer=7&number=0.5&flag=1&texts=y"};
    request_error error;
    fields f;
    uint32_t random = 1;
    size_t refused = 0;
    for (size_t i = 0; i < 20000; i++) {
        char body[256];
        const bool form = i % 2;
        size_t size = strlen(bodies[form]);
        memcpy(body, bodies[form], size);
        for (size_t change = 0; change < 1 + i % 3; change++) {
            random = random * 1664525u + 1013904223u;
            body[(random >> 8) % size] = (char)(random >> 24);
        }
        size = i % 5 ? size : (random >> 4) % size;
        exchange *x = open_body(&f, form ? FORM : NULL, body, size, &error);
        read_known(&f);
        refused += !fields_finish(&f);
        assert_true(error.status == 0 || error.status == 400);
        assert_true(!error.status == !*error.message);
        close_body(&f, x);
    }
    assert_true(refused > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_out),       cmocka_unit_test(forms_are_the_same), cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_first_error_stays), cmocka_unit_test(depth_is_bounded),   cmocka_unit_test(mutations_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
