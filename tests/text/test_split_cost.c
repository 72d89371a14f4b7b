/* tests/text/test_split_cost.c: patterns that go back over a text again and again are refused, however the steps are spread;
 * long runs, which need more than a first window, are cut as they should be.
 * For src/text/split/split.c; what patterns mean is in test_split.c. No time is measured: the cost is counted. */
#define _GNU_SOURCE
#include "text/split/split.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

/* Splits all of a text; returns the number of pieces, or 0 where it is refused. */
static size_t pieces_of(const char *pattern, const char *text, size_t size, rapt_error *err)
{
    split *s = compile(pattern);
    split_walk *w = split_walk_new(s, NULL);
    size_t count = 0, end;
    rapt_code code = RAPT_OK;
    *err = (rapt_error){0};
    for (size_t at = 0; at < size && !code; at = end, count++)
        code = split_next(w, text, size, at, &end, err);
    assert_int_equal(code, err->code);
    split_walk_free(w);
    split_free(s);
    return code ? 0 : count;
}

/* `count` letters a, cut by a ! after each `run` of them, and !b at the end. */
static char *letters(size_t count, size_t run)
{
    char *text = malloc(count + 3);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        text[i] = (i + 1) % run == 0 ? '!' : 'a';
    memcpy(text + count, "!b", 3);
    return text;
}

static void refused(const char *pattern, size_t count, size_t run)
{
    rapt_error err;
    char *text = letters(count, run);
    assert_int_equal(pieces_of(pattern, text, count + 2, &err), 0);
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, ": the pattern takes too many steps here"));
    free(text);
}

static void taken(const char *pattern, size_t count, size_t run)
{
    rapt_error err;
    char *text = letters(count, run);
    if (pieces_of(pattern, text, count + 2, &err) == 0)
        fail_msg("%s: %s", pattern, err.message);
    free(text);
}

/* Each of these took more than 15 seconds while only a match had a limit. */
static void costs_of_a_text(void **state)
{
    (void)state;
    refused("a*a*a*b", 3000, SIZE_MAX);
    refused("a*a*b", 100000, SIZE_MAX);
    refused("(?=a*a*b)a|a", 100000, SIZE_MAX);
    refused("a*a*a*b|!", 1000000, 1000); /* a thousand texts of a thousand letters */
}

/* What costs as much as the text is long, or little, is no reason. */
static void cheap_texts(void **state)
{
    (void)state;
    taken("a*b|a+|!", 3000000, SIZE_MAX);
    taken("a*b|a+|!", 3000000, 1000);
    taken("a*a*b|a+|!", 1000000, 20);
    taken("[^!]+!?|!", 3000000, 300);
}

/* The same pattern in a group is PCRE2's: it meets windows, the hand-written one doesn't. */
static void long_runs(void **state)
{
    (void)state;
    static const char *const patterns[] = {SPLIT_GPT2, SPLIT_CL100K, SPLIT_O200K};
    static const char *const characters[] = {"a", "A", " ", "\n", "1", "!", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80",
                                             "\xCC\x81", "\xFF", "\xE4\xB8", "'"};
    enum { RUNS = 40, LONGEST = 700, ROOM = RUNS * LONGEST * 4 };
    char *text = malloc(ROOM), *group;
    uint64_t next = 0;
    for (size_t trial = 0; trial < 60; trial++) {
        size_t size = 0;
        for (size_t i = 0; i < RUNS; i++) {
            const char *c = characters[rng_below(5, next++, sizeof characters / sizeof *characters)];
            bool is_short = rng_below(5, next++, 4) > 0;
            for (size_t n = rng_below(5, next++, is_short ? 5 : LONGEST) + 1; n > 0; n--, size += strlen(c))
                memcpy(text + size, c, strlen(c));
        }
        const char *pattern = patterns[trial % 3];
        assert_true(asprintf(&group, "(?:%s)", pattern) > 0);
        split *known = compile(pattern), *general = compile(group);
        split_walk *w = split_walk_new(known, NULL), *v = split_walk_new(general, NULL);
        rapt_error err = {0};
        for (size_t at = 0, one, other; at < size; at = one) {
            assert_int_equal(split_next(w, text, size, at, &one, &err), RAPT_OK);
            assert_int_equal(split_next(v, text, size, at, &other, &err), RAPT_OK);
            assert_int_equal(one, other);
        }
        split_walk_free(w);
        split_walk_free(v);
        split_free(known);
        split_free(general);
        free(group);
    }
    free(text);
}

/* A walk that is used for another text begins anew. */
static void costs_are_forgotten(void **state)
{
    (void)state;
    size_t end;
    rapt_error err = {0};
    char *text = letters(2000, SIZE_MAX);
    split *s = compile("a*a*a*b");
    split_walk *w = split_walk_new(s, NULL);
    rapt_code code = RAPT_OK;
    for (int i = 0; i < 100 && !code; i++) {
        split_walk_begin(w);
        code = split_next(w, text + 1980, 22, 0, &end, &err);
    }
    assert_int_equal(code, RAPT_OK);
    for (size_t at = 0; at < 2000 && !code; at = end)
        code = split_next(w, text, 2002, at, &end, &err);
    assert_int_equal(code, RAPT_ERR_VALUE);
    err = (rapt_error){0};
    assert_int_equal(split_next(w, text + 1700, 302, 0, &end, &err), RAPT_ERR_VALUE);
    split_walk_begin(w);
    err = (rapt_error){0};
    assert_int_equal(split_next(w, text + 1980, 22, 0, &end, &err), RAPT_OK);
    split_walk_free(w);
    split_free(s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_of_a_text), cmocka_unit_test(cheap_texts), cmocka_unit_test(long_runs),
        cmocka_unit_test(costs_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
