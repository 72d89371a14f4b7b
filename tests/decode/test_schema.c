/* tests/decode/test_schema.c: JSON schemas: which texts they take, byte by byte; which schemas are refused, and where; what a
 * schema may cost.
 * Not here: tokens (test_constraint.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "decode/schema/schema_work.h"
#include "decode/schema_case.h"

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* 1: a value; 0: the beginning of one; -1: no beginning. */
static int outcome(const json_schema *s, const char *text)
{
    schema_state *state = malloc(sizeof *state), *next = malloc(sizeof *next);
    char *meant = schema_text_of(text);
    assert_true(state && next);
    schema_state_begin(state, s);
    for (const char *at = meant; *at && state->count > 0; at++) {
        schema_state *swap = state;
        schema_step(state, (uint8_t)*at, next);
        state = next;
        next = swap;
    }
    const int found = state->count == 0 ? -1 : schema_state_complete(state);
    free(state);
    free(next);
    free(meant);
    return found;
}

#define OBJECT "{'type':'object','properties':{'a':{'type':'integer'},'b':{'enum':['x','xy',null]}},'required':['a']"
#define KEYS "{'properties':{'b':{'const':0},'a':{'const':0},'ab':{'const':0},'abc':{'const':0}},'required':['a']}"
#define TREE "{'$defs':{'t':{'type':'array','items':{'$ref':'#/$defs/t'}}},'$ref':'#/$defs/t'}"

static const struct { const char *schema, *text; int outcome; } TEXTS[] = {
    {OBJECT "}", "{'a':1,'b':'x'}", 1}, {OBJECT "}", "{ 'a': -12 }", 1}, {OBJECT "}", "{\n  'a':1\n}", 1},
    {OBJECT "}", "{'b'", -1}, {OBJECT "}", "{}", -1}, {OBJECT "}", "{'a':1,}", -1}, {OBJECT "}", "{'a':1}}", -1},
    {OBJECT "}", "{'a':01", -1}, {OBJECT "}", "{'a':1.", -1}, {OBJECT "}", "{'a':1,'b':'xy", 0}, {OBJECT "}", "{  ", -1},
    {OBJECT "}", "{'a':1,'c'", -1}, {OBJECT "}", "{'a':9007199254740991}", 1}, {OBJECT "}", "{'a':9007199254740992", -1},
    {OBJECT ",'additionalProperties':{'type':'null'}}", "{'a':1,'c':null,'':null}", 1},
    {OBJECT ",'additionalProperties':{'type':'null'}}", "{'a':1,'a'", -1},
    {OBJECT ",'additionalProperties':{'type':'null'}}", "{'a':1,'b':null,'bb':null}", 1},
    {OBJECT ",'additionalProperties':{'type':'null'}}", "{'a':1,'\\u0061", -1},
    {OBJECT ",'additionalProperties':{'type':'null'}}", "{'c'", -1},
    {"{'type':'string','minLength':2,'maxLength':3}", "'\xC3\xA9\\u00e9x'", 1},
    {"{'type':'string','minLength':2,'maxLength':3}", "'x'", -1}, {"{'type':'string','minLength':2,'maxLength':3}", "'wxyz", -1},
    {"{'type':'string'}", "'\xC3'", -1}, {"{'type':'string'}", "'\xED\xA0", -1}, {"{'type':'string'}", "'\n", -1},
    {"{'type':'string'}", "'\\ud800", -1}, {"{'type':'string'}", "'\\q", -1}, {"{'type':'string'}", "'\\u0000", -1},
    {"{'type':'number'}", "-1.5e+10", 1}, {"{'type':'number'}", "1.", 0}, {"{'type':'number'}", "00", -1},
    {"{'type':'number'}", "1e999", -1}, {"{'type':'number'}", "+", -1}, {"{'type':'number'}", "12 ", 1},
    {"{'type':'number'}", "12  ", -1}, {"{'type':'integer','minimum':10,'maximum':19}", "2", -1},
    {"{'type':'integer','minimum':10,'maximum':19}", "1", 0}, {"{'type':'integer','minimum':10,'maximum':19}", "15", 1},
    {"{'type':'integer','multipleOf':7}", "14", 1}, {"{'type':'number','minimum':0.25,'exclusiveMaximum':0.5}", "0.25", 1},
    {"{'type':'number','minimum':0.25,'exclusiveMaximum':0.5}", "0.5", -1},
    {"{'type':'integer','minimum':14,'maximum':20,'multipleOf':7}", "15", -1},
    {"{'type':'array','items':{'type':'boolean'},'minItems':1,'maxItems':2}", "[]", -1},
    {"{'type':'array','items':{'type':'boolean'},'minItems':1,'maxItems':2}", "[true, false]", 1},
    {"{'type':'array','items':{'type':'boolean'},'minItems':1,'maxItems':2}", "[true,true,", -1},
    {"{'type':'array','prefixItems':[{'const':1},{'const':2}],'items':false}", "[1,2]", 1},
    {"{'type':'array','prefixItems':[{'const':1},{'const':2}],'items':false}", "[1,2,", -1},
    {"{'anyOf':[{'type':'object','properties':{'k':{'const':1}},'required':['k']},"
     "{'type':'object','properties':{'k':{'const':12}},'required':['k']}]}", "{'k':12}", 1},
    {"{'enum':[1,12,'a',{'b':[null]}]}", "{'b':[null]}", 1}, {"{'enum':[1,12]}", "1", 1}, {"{'enum':[1,12]}", "13", -1},
    {"{'type':'string','pattern':'^a{2,3}(b|\\\\d)$'}", "'aab'", 1},
    {"{'type':'string','pattern':'^a{2,3}(b|\\\\d)$'}", "'aaa7'", 1},
    {"{'type':'string','pattern':'^a{2,3}(b|\\\\d)$'}", "'aaaa", -1},
    {"{'type':'string','pattern':'^(((((((((a)))))))))+$'}", "'aa'", 1}, {"{'type':'string','pattern':'b'}", "'abc'", 1},
    {"{'type':'string','pattern':'b'}", "'ac'", -1}, {"{'type':'string','format':'date'}", "'2021-02-28'", 1},
    {"{'type':'string','format':'date'}", "'2021-02-29", -1}, {"{'oneOf':[{'type':'string'},{'type':'null'}]}", "null", 1},
    {TREE, "[[],[[]]]", 1}, {TREE, "[1", -1}, {"true", "{'x':[1,'',null]}", 1}, {"{}", " 1", 1}, {"{}", "\t", -1},
    {"{'anyOf':[{'const':'ab'},{'const':'a'},{'enum':['abc',null]},{'type':'boolean'}]}", "'ab'", 1},
    {"{'anyOf':[{'const':'ab'},{'const':'a'},{'enum':['abc',null]},{'type':'boolean'}]}", "'abd", -1},
    {"{'allOf':[{'enum':[1.0,2,{'a':1}]},{'enum':[{'a':1},3,1]}]}", "1", 1},
    {"{'allOf':[{'enum':[1.0,2,{'a':1}]},{'enum':[{'a':1},3,1]}]}", "{'a':1}", 1},
    {"{'allOf':[{'enum':[1.0,2,{'a':1}]},{'enum':[{'a':1},3,1]}]}", "2", -1},
    {"{'type':'string','pattern':'^a{0}b{2,}$'}", "'bbb'", 1}, {"{'type':'string','pattern':'^a{0}b{2,}$'}", "'b'", -1},
    {"{'type':'object','additionalProperties':{'type':'null'}}", "{'a':null,'a':null}", 1},
    {KEYS, "{'ab'", -1}, {KEYS, "{'a':0,'ab':0}", 1}, {KEYS, "{'b':0,'a':0,'abc':0}", 1}, {KEYS, "{'b':0,'ab", -1},
    {KEYS, "{'a':0,'b", -1}, {KEYS, "{'a':0,'b':1", -1}, {KEYS, "{'b':0}", -1}, {KEYS, "{'a':0,'abc':0,'ab", -1},
    {"{'allOf':[{'const':{'b':2,'a':1.0}},{'const':{'a':1,'b':2}}]}", "{'a':1,'b':2}", 1},
    {"{'oneOf':[{'type':'null'},{'type':'integer'}],'discriminator':{'propertyName':'k'}}", "null", 1},
    {"{'type':'object','minProperties':0}", "{}", 1},
    {"{'$ref':'#/properties/$id','properties':{'$id':{'type':'null'}}}", "null", 1},
    {"{'items':{'$ref':'#/$defs/l/1'},'$defs':{'l':[{},{'type':'null'}]}}", "[null]", 1},
    {"{'allOf':[{'const':{'b':2,'a':1.0}},{'const':{'a':1,'b':2}}]}", "{'b'", -1},
    {"{'enum':[[1.0,[2e0]]],'const':[1,[2]]}", "[1,[2]]", 1},
    {"{'oneOf':[{'minimum':2,'maximum':1},{'type':'number'}]}", "1", 1},
    {"{'oneOf':[{'const':{'a':1}},{'const':{'a':2}}]}", "{'a':2}", 1},
    {"{'oneOf':[{'type':'string','minLength':2,'maxLength':1},{'type':'string'}]}", "'a'", 1},
};

static void texts_are_taken_that_obey(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        json_schema s;
        rapt_error err = {0};
        if (schema_case(&s, TEXTS[i].schema, &err))
            fail_msg("%s: %s", TEXTS[i].schema, err.message);
        const int found = outcome(&s, TEXTS[i].text);
        if (found != TEXTS[i].outcome)
            fail_msg("%s: '%s' is %d, not %d", TEXTS[i].schema, TEXTS[i].text, found, TEXTS[i].outcome);
        schema_free(&s);
    }
}

static void levels_are_bounded(void **state)
{
    char text[SCHEMA_DEPTH + 3];
    json_schema s;
    (void)state;
    assert_int_equal(schema_case(&s, TREE, NULL), RAPT_OK);
    memset(text, '[', sizeof text);
    text[SCHEMA_DEPTH] = '\0';
    assert_int_equal(outcome(&s, text), 0);
    text[SCHEMA_DEPTH] = '[';
    text[SCHEMA_DEPTH + 1] = '\0';
    assert_int_equal(outcome(&s, text), -1);
    schema_free(&s);
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

static const char *const REFUSED[][2] = {
    {"{'not':{}}",
     "schema, #: 'not' is not supported"},
    {"{'properties':{'a/b':{'items':{'uniqueItems':true}}}}",
     "schema, #/properties/a~1b/items: 'uniqueItems' is not supported"},
    {"{'properties':{'a':{'if':{}}}}",
     "schema, #/properties/a: 'if' is not supported"},
    {"{'type':'text'}",
     "schema, #: 'type' is a type or a list of types"},
    {"{'type':'string','pattern':'(?=a)'}",
     "schema, #: pattern '(?=a)': lookaround and named groups are not supported, at byte 2"},
    {"{'type':'string','pattern':'a$b'}",
     "schema, #: pattern 'a$b': ^ and $ are supported only at the ends of the whole, at byte 2"},
    {"{'type':'string','pattern':'^(a{1000}){1000}$'}",
     "schema, #: pattern '^(a{1000}){1000}$': it is too large, at byte 4"},
    {"{'format':'regex'}",
     "schema, #: 'format' has a value that is not supported: there are date, time, date-time, duration, email, uuid, ipv4, "
     "hostname, uri"},
    {"{'$ref':'http://x/y'}",
     "schema, #: '$ref': 'http://x/y': only references within the schema, '#' or '#/...', are supported"},
    {"{'$ref':'#/a'}",
     "schema, #: '$ref': '#/a' names no part of the schema"},
    {"{'items':{'$ref':'#/$defs/l/01'},'$defs':{'l':[{},{}]}}",
     "schema, #/items: '$ref': '#/$defs/l/01' names no part of the schema"},
    {"{'minProperties':1}",
     "schema, #: 'minProperties' is supported only as 0"},
    {"{'discriminator':{}}",
     "schema, #: 'discriminator' is supported only beside 'oneOf' or 'anyOf'"},
    {"{'$ref':'#'}",
     "schema, #: references and alternatives within each other: too deep, or endless"},
    {"{'type':'object','properties':{'a':{'$ref':'#'}},'required':['a']}",
     "schema, #: no value obeys it, or none of at most 32 levels"},
    {"false",
     "schema, #: no value obeys it, or none of at most 32 levels"},
    {"{'oneOf':[{'type':'integer'},{'type':'number'}]}",
     "schema, #: 'oneOf': schemas 0 and 1 do not clearly exclude each other; 'anyOf' takes them"},
    {"{'oneOf':[{'minimum':2,'maximum':1},{'type':'string','maxLength':3}]}",
     "schema, #: 'oneOf': schemas 0 and 1 do not clearly exclude each other; 'anyOf' takes them"},
    {"{'oneOf':[{'anyOf':[{'minLength':5,'maxLength':3},{'type':'integer'}]},{'type':'null'}]}",
     "schema, #: 'oneOf': schemas 0 and 1 do not clearly exclude each other; 'anyOf' takes them"},
    {"{'oneOf':[{'properties':{'k':{'minItems':2,'maxItems':1}},'required':['k']},"
     "{'type':'object','properties':{'k':{'type':'null'}},'required':['k']}]}",
     "schema, #: 'oneOf': schemas 0 and 1 do not clearly exclude each other; 'anyOf' takes them"},
    {"{'oneOf':[{'allOf':[{'const':{'a':1,'b':[2.0]}},{'const':{'b':[2],'a':1}}]},{'const':{'a':1,'b':[2]}}]}",
     "schema, #: 'oneOf': schemas 0 and 1 do not clearly exclude each other; 'anyOf' takes them"},
    {"{'const':[{'a':9007199254740992}]}",
     "schema, #: a given number beyond 2^53 is not supported"},
    {"{'minimum':1e300}",
     "schema, #: numbers beyond 2^53 are not supported"},
    {"{'const':1e20}",
     "schema, #: a given number beyond 2^53 is not supported"},
    {"{'enum':['a'],'pattern':'a'}",
     "schema, #/enum: a given text beside a pattern or format is not supported"},
    {"[]",
     "schema, line 1: it is an object, true or false"},
    {"{",
     "schema, line 1: string or '}' expected near end of file"},
    {"{'type':'string','pattern':'a{4294967297}'}",
     "schema, #: pattern 'a{4294967297}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 7"},
    {"{'type':'string','pattern':'a{1,-1}'}",
     "schema, #: pattern 'a{1,-1}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 5"},
    {"{'type':'string','pattern':'a{1, 5}'}",
     "schema, #: pattern 'a{1, 5}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 5"},
    {"{'type':'string','pattern':'a{5,1}'}",
     "schema, #: pattern 'a{5,1}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 6"},
    {"{'type':'string','pattern':'a{}'}",
     "schema, #: pattern 'a{}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 3"},
    {"{'type':'string','pattern':'a{1001}'}",
     "schema, #: pattern 'a{1001}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 7"},
    {"{'type':'string','pattern':'a{2,1001}'}",
     "schema, #: pattern 'a{2,1001}': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 9"},
    {"{'type':'string','pattern':'a{1'}",
     "schema, #: pattern 'a{1': numbers of times are {m}, {m,} or {m,n}: digits, at most 1000, the smaller one first, "
     "at byte 4"},
};

static void schemas_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        json_schema s;
        rapt_error err = {0};
        assert_int_equal(schema_case(&s, REFUSED[i][0], &err), RAPT_ERR_VALUE);
        char *want = schema_text_of(REFUSED[i][1]), *message = schema_text_of(err.message);
        assert_string_equal(message, want);
        schema_free(&s);
        free(want);
        free(message);
    }
    rapt_constraint_free(NULL);
}

/* ---- cost ----------------------------------------------------------------------------------------------------- */

/* Writes a schema that multiplies, with ' for ". */
typedef void multiplying_fn(buffer_writer *w);

static void list_begin(buffer_writer *w, const char *name, int i)
{
    buffer_print(w, "%s%s", i ? "," : "", i ? "" : name);
}

static void products_of_alternatives(buffer_writer *w)
{
    for (int i = 0; i < 12; i++) {
        list_begin(w, "{'allOf':[", i);
        buffer_print(w, "{'anyOf':[{'minimum':1},{'minimum':2},{'minimum':3}]}");
    }
    buffer_print(w, "]}");
}

static void lists_in_alternatives(buffer_writer *w)
{
    for (int i = 0; i < 8000; i++) {
        list_begin(w, "{'allOf':[{'enum':[", i);
        buffer_print(w, "%d", i);
    }
    buffer_print(w, "]}");
    for (int k = 0; k < 3; k++) {
        buffer_print(w, ",{'anyOf':[");
        for (int i = 0; i < 20; i++)
            buffer_print(w, "%s{'maximum':%d}", i ? "," : "", 9000 + i + 20 * k);
        buffer_print(w, "]}");
    }
    buffer_print(w, "]}");
}

static void keys_in_alternatives(buffer_writer *w)
{
    for (int i = 0; i < 900; i++) {
        list_begin(w, "{'properties':{", i);
        buffer_print(w, "'%0240d':{}", i);
    }
    for (int i = 0; i < 64; i++) {
        list_begin(w, "},'anyOf':[", i);
        buffer_print(w, "{'required':['%d']}", i);
    }
    buffer_print(w, "]}");
}

/* Objects of equal keys within each other, of which no two exclude each other. */
static void objects_that_may_exclude(buffer_writer *w)
{
    buffer_print(w, "{'$defs':{'d4':{'type':'string'}");
    for (int n = 0; n < 4; n++) {
        buffer_print(w, ",'d%d':{'type':'object','properties':{", n);
        for (int i = 0; i < 60; i++)
            buffer_print(w, "%s'k%d':{'$ref':'#/$defs/d%d'}", i ? "," : "", i, n + 1);
        buffer_print(w, "},'required':[");
        for (int i = 0; i < 60; i++)
            buffer_print(w, "%s'k%d'", i ? "," : "", i);
        buffer_print(w, "]}");
    }
    buffer_print(w, "},'oneOf':[{'$ref':'#/$defs/d0'},{'$ref':'#/$defs/d0'}]}");
}

static void patterns_of_many_steps(buffer_writer *w)
{
    for (int i = 0; i < 20; i++) {
        list_begin(w, "{'type':'string','pattern':'^(?:", i);
        buffer_print(w, "|[%c-z]{0,30}", 'a' + i);
    }
    buffer_print(w, ")$'}");
    for (size_t i = 0; i < w->bytes.size; i++) /* the commas of the list */
        if (w->bytes.data[i] == ',' && w->bytes.data[i + 1] == '|')
            w->bytes.data[i] = '|';
}

static void alternatives_of_one_value(buffer_writer *w)
{
    for (int i = 0; i < 65; i++) {
        list_begin(w, "{'anyOf':[", i);
        buffer_print(w, "{'type':'array','minItems':%d}", i);
    }
    buffer_print(w, "]}");
}

static void patterns_of_one_value(buffer_writer *w)
{
    for (int i = 0; i < 9; i++) {
        list_begin(w, "{'anyOf':[", i);
        buffer_print(w, "{'pattern':'^%d'}", i);
    }
    buffer_print(w, "]}");
}

#define STEPS "the schema is too large: what its parts multiply to takes more than 16777216 steps to read"

static const struct { multiplying_fn *write; const char *message; } MULTIPLYING[] = {
    {products_of_alternatives, STEPS}, {lists_in_alternatives, STEPS}, {keys_in_alternatives, STEPS},
    {objects_that_may_exclude, STEPS}, {patterns_of_many_steps, "its automaton takes too many steps to make"},
    {alternatives_of_one_value, "schema, #: the schema is too large: a value of more than 64 alternatives"},
    {patterns_of_one_value, "schema, #: a value of more than 8 patterns or formats"}};

/* What multiplies in a short schema ends by its bounds. */
static void schemas_are_bounded(void **state)
{
    rapt_error err = {0};
    buffer_writer w = {.failed = false};
    (void)state;
    for (size_t i = 0; i < SCHEMA_MAX_BYTES; i += 64)
        buffer_print(&w, "%64s", "");
    buffer_print(&w, " ");
    assert_null(rapt_constraint_json_schema(w.bytes.data, w.bytes.size, &err));
    assert_string_equal(err.message, "a schema of 262145 bytes: at most 262144 are taken");
    buffer_free(&w.bytes);
    for (size_t i = 0; i < sizeof MULTIPLYING / sizeof *MULTIPLYING; i++) {
        json_schema s;
        err = (rapt_error){0};
        MULTIPLYING[i].write(&w);
        assert_false(w.failed);
        assert_int_equal(schema_case(&s, w.bytes.data, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, MULTIPLYING[i].message))
            fail_msg("%zu: %s", i, err.message);
        assert_true(s.memory.used <= SCHEMA_MEMORY);
        schema_free(&s);
        buffer_free(&w.bytes);
    }
}

/* Given values of many alternatives are one list. */
static void given_values_are_one_list(void **state)
{
    rapt_error err = {0};
    buffer_writer w = {.failed = false};
    json_schema s;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        list_begin(&w, "{'anyOf':[", i);
        buffer_print(&w, "{'const':'c%d'}", i);
    }
    buffer_print(&w, "]}");
    assert_int_equal(schema_case(&s, w.bytes.data, &err), RAPT_OK);
    assert_int_equal(s.root->count, 1);
    assert_int_equal(s.root->shapes->count, 2000);
    assert_int_equal(outcome(&s, "'c1999'"), 1);
    assert_int_equal(outcome(&s, "'c2000"), -1);
    schema_free(&s);
    buffer_free(&w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_that_obey), cmocka_unit_test(levels_are_bounded),
        cmocka_unit_test(schemas_are_refused_by_name), cmocka_unit_test(schemas_are_bounded),
        cmocka_unit_test(given_values_are_one_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
