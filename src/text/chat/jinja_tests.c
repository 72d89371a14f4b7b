/* text/chat/jinja_tests.c: tests of templates by name. */
#include "text/chat/jinja_operations.h"

#include <string.h>

typedef enum test_kind {
    TEST_BOOLEAN, TEST_CALLABLE, TEST_DEFINED, TEST_DIVISIBLE, TEST_EQUAL, TEST_EVEN, TEST_FALSE, TEST_FLOAT, TEST_AT_LEAST,
    TEST_GREATER, TEST_IN, TEST_INTEGER, TEST_ITERABLE, TEST_AT_MOST, TEST_LESS, TEST_MAPPING, TEST_UNEQUAL, TEST_NONE,
    TEST_NUMBER, TEST_ODD, TEST_SEQUENCE, TEST_STRING, TEST_TRUE, TEST_UNDEFINED
} test_kind;

static const struct {
    const char *name;
    test_kind kind;
    bool compares; /* takes another value */
} TESTS[] = {
    {"boolean", TEST_BOOLEAN, false},   {"callable", TEST_CALLABLE, false}, {"defined", TEST_DEFINED, false},
    {"divisibleby", TEST_DIVISIBLE, true}, {"eq", TEST_EQUAL, true},        {"equalto", TEST_EQUAL, true},
    {"==", TEST_EQUAL, true},           {"even", TEST_EVEN, false},         {"false", TEST_FALSE, false},
    {"float", TEST_FLOAT, false},       {"ge", TEST_AT_LEAST, true},        {">=", TEST_AT_LEAST, true},
    {"gt", TEST_GREATER, true},         {"greaterthan", TEST_GREATER, true}, {">", TEST_GREATER, true},
    {"in", TEST_IN, true},              {"integer", TEST_INTEGER, false},   {"iterable", TEST_ITERABLE, false},
    {"le", TEST_AT_MOST, true},         {"<=", TEST_AT_MOST, true},         {"lt", TEST_LESS, true},
    {"lessthan", TEST_LESS, true},      {"<", TEST_LESS, true},             {"mapping", TEST_MAPPING, false},
    {"ne", TEST_UNEQUAL, true},         {"!=", TEST_UNEQUAL, true},         {"none", TEST_NONE, false},
    {"number", TEST_NUMBER, false},     {"odd", TEST_ODD, false},           {"sequence", TEST_SEQUENCE, false},
    {"string", TEST_STRING, false},     {"true", TEST_TRUE, false},         {"undefined", TEST_UNDEFINED, false},
};

enum { TEST_COUNT = sizeof TESTS / sizeof *TESTS };

static size_t test_row(jinja_value name)
{
    size_t i = 0;
    while (i < TEST_COUNT && !jinja_is(name, TESTS[i].name))
        i++;
    return i;
}

bool jinja_test_known(jinja_value name)
{
    return test_row(name) < TEST_COUNT;
}

static bool test_divides(jinja_work *w, jinja_value v, int64_t by)
{
    int64_t integer = 0;
    if (jinja_want_integer(w, "a test", v, &integer) && by == 0)
        jinja_fail(w, "integer modulo by zero");
    return !w->code && (by == -1 || integer % by == 0);
}

static bool test_alone(jinja_work *w, test_kind kind, jinja_value v)
{
    jinja_shape shape = v.kind == JINJA_LIST ? v.list->shape : JINJA_IS_LIST;
    bool rows = v.kind == JINJA_UNDEFINED || v.kind == JINJA_TEXT || v.kind == JINJA_LIST || v.kind == JINJA_DICT;
    switch (kind) {
    case TEST_BOOLEAN: return v.kind == JINJA_BOOL;
    case TEST_CALLABLE:
        return v.kind == JINJA_MACRO || v.kind == JINJA_METHOD || v.kind == JINJA_FUNCTION || v.kind == JINJA_UNDEFINED;
    case TEST_DEFINED: return v.kind != JINJA_UNDEFINED;
    case TEST_EVEN: return test_divides(w, v, 2);
    case TEST_FALSE: return v.kind == JINJA_BOOL && !v.truth;
    case TEST_FLOAT: return v.kind == JINJA_FLOAT;
    case TEST_INTEGER: return v.kind == JINJA_INT;
    case TEST_ITERABLE: return rows;
    case TEST_MAPPING: return v.kind == JINJA_DICT;
    case TEST_NONE: return v.kind == JINJA_NONE;
    case TEST_NUMBER: return jinja_is_number(v);
    case TEST_ODD: return !test_divides(w, v, 2) && !w->code;
    case TEST_SEQUENCE: return rows && shape <= JINJA_IS_RANGE;
    case TEST_STRING: return v.kind == JINJA_TEXT;
    case TEST_TRUE: return v.kind == JINJA_BOOL && v.truth;
    default: return v.kind == JINJA_UNDEFINED;
    }
}

static bool test_against(jinja_work *w, test_kind kind, jinja_value v, jinja_value other)
{
    int64_t by;
    switch (kind) {
    case TEST_DIVISIBLE: return jinja_want_integer(w, "divisibleby", other, &by) && test_divides(w, v, by);
    case TEST_EQUAL: return jinja_equal(w, v, other);
    case TEST_UNEQUAL: return !jinja_equal(w, v, other);
    case TEST_IN: return jinja_contains(w, other, v);
    case TEST_LESS: return jinja_less(w, v, other, "<");
    case TEST_GREATER: return jinja_less(w, other, v, ">");
    case TEST_AT_MOST: return jinja_less(w, v, other, "<=") || jinja_equal(w, v, other);
    default: return jinja_less(w, other, v, ">=") || jinja_equal(w, v, other);
    }
}

bool jinja_test(jinja_work *w, jinja_value name, jinja_value v, const jinja_arguments *a)
{
    size_t row = test_row(name);
    jinja_value other = JINJA_NOTHING;
    if (row == TEST_COUNT)
        jinja_fail(w, "the test \"%.*s\" is not implemented", (int)(name.size < 40 ? name.size : 40),
                   name.kind == JINJA_TEXT ? name.text : "");
    if (w->code || !jinja_bind(w, TESTS[row].name, a, TESTS[row].compares ? "other" : "", TESTS[row].compares, &other))
        return false;
    return TESTS[row].compares ? test_against(w, TESTS[row].kind, v, other) : test_alone(w, TESTS[row].kind, v);
}
