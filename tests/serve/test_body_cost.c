/* tests/serve/test_body_cost.c: the memory that reading a body takes, counted where jansson allocates it, is never more than what
 * was expected of the text; and of ordinary bodies not much less. For serve/module/body_cost.c. */
#define _GNU_SOURCE /* stpcpy */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "serve/module/body_kinds.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY = 200000, WORD = 8 }; /* WORD: what malloc has before a block */

static size_t now, peak;

static void *counted_malloc(size_t size)
{
    void *p = malloc(size);
    now += p ? malloc_usable_size(p) + WORD : 0;
    peak = now > peak ? now : peak;
    return p;
}

static void counted_free(void *p)
{
    now -= p ? malloc_usable_size(p) + WORD : 0;
    free(p);
}

/* `before`, then `part` again and again, with a number in place of each '#', and `after`. */
static char *make_body(const char *before, const char *part, const char *after, size_t *size)
{
    char *text = malloc(BODY + strlen(before) + strlen(part) + strlen(after) + 64), *to = stpcpy(text, before);
    for (size_t i = 0; to < text + BODY; i++)
        for (const char *p = part; *p; p++)
            if (*p == '#')
                to += sprintf(to, "%zu", i);
            else
                *to++ = *p;
    to = stpcpy(*after && to[-1] == ',' ? to - 1 : to, after);
    *size = (size_t)(to - text);
    return text;
}

/* Reads a body as `fields` do; the peak of what that took. */
static size_t reading_takes(const char *text, size_t size, bool is_json)
{
    const char *reason;
    now = peak = 0;
    json_t *root = is_json ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL) : form_read(text, size, &reason);
    json_t *copy = json_is_object(root) ? json_copy(root) : NULL;
    json_decref(root);
    json_decref(copy);
    assert_int_equal(now, 0);
    return peak;
}

static void cost_is_an_upper_bound(void **state)
{
    static const struct {
        const char *before, *part, *after;
    } bodies[] = {
        {"[", "{},", "]"}, {"[", "[],", "]"}, {"[", "[[]],", "]"}, {"[", "\"\",", "]"}, {"[", "\"a\",", "]"},
        {"[", "1,", "]"}, {"[", "-1,", "]"}, {"[", "1e5,", "]"}, {"[", "1.5,", "]"}, {"[", "true,", "]"},
        {"[", "null,", "]"}, {"[", "{\"a\":1},", "]"}, {"{", "\"#\":1,", "}"}, {"{", "\"#\":null,", "}"},
        {"{", "\"#\":\"\",", "}"}, {"{", "\"#\":{},", "}"}, {"{", "\"#\":[],", "}"}, {"{\"a\":\"", "aaaaaaaa", "\"}"},
        {"{\"a\":\"", "\\u00e9", "\"}"}, {"{\"a\":\"", "\\n", "\"}"}, {"{\"", "aaaaaaaa", "\":1}"},
        {"{\"messages\":[", "{\"role\":\"user\",\"content\":\"#\"},", "]}"}, {"{\"prompt\":[", "[1,2,3],", "]}"},
        {"[", "  1 ,", "]"}, {"[", "{\"a\":{\"b\":{\"c\":[]}}},", "]"}, {"[", "1-", ""}, {"", "\"", ""}, {"[", "{", ""},
        {"", "[", ""}};
    static const char *const forms[][3] = {{"", "q=a&", "q=b"}, {"", "a#=b&", "z="}, {"q=", "aaaaaa", ""}, {"q=", "%20", ""},
                                           {"", "&", ""}, {"", "=&", ""}};
    (void)state;
    json_set_alloc_funcs(counted_malloc, counted_free);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        size_t size;
        char *text = make_body(bodies[i].before, bodies[i].part, bodies[i].after, &size);
        const size_t cost = body_cost_json(text, size), takes = reading_takes(text, size, true);
        if (takes > cost)
            fail_msg("%s%s...: takes %zu bytes, %zu were expected", bodies[i].before, bodies[i].part, takes, cost);
        free(text);
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t size;
        char *text = make_body(forms[i][0], forms[i][1], forms[i][2], &size);
        const size_t cost = body_cost_form(text, size), takes = reading_takes(text, size, false);
        if (takes > cost)
            fail_msg("%s%s...: takes %zu bytes, %zu were expected", forms[i][0], forms[i][1], takes, cost);
        free(text);
    }
}

/* Texts and conversations are not refused for more than a few times their size. */
static void ordinary_bodies_cost_little(void **state)
{
    static const char line[] = "\"A sentence of some words, as people write them.\",";
    static const char message[] =
        "{\"role\":\"user\",\"content\":\"A sentence of some words, as people write them, and another.\"},";
    size_t size;
    (void)state;
    char *text = make_body("{\"texts\":[", line, "]}", &size);
    assert_true(body_cost_json(text, size) < 6 * size);
    free(text);
    text = make_body("{\"messages\":[", message, "]}", &size);
    assert_true(body_cost_json(text, size) < 14 * size);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ordinary_bodies_cost_little), cmocka_unit_test(cost_is_an_upper_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
