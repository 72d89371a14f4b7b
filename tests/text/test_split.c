/* test_split.c: the pieces that split patterns cut texts into.
 * For src/text/split/split.c, split_known.c, dialect.c and classes.c. What is matched by hand is compared with PCRE2 on all
 * short texts of a few characters of each class, and on many long ones.
 * Not a test of Unicode's tables beyond what PCRE2 knows of them; test_tokenizer_golden.c compares with tiktoken. */
#define _GNU_SOURCE
#include "text/split/split.h"

#include "base/rng.h"
#include "text/split/classes.h"
#include "text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

/* Patterns of tiktoken and of tokenizers; in a group, they are PCRE2's. */
static const char *const PATTERNS[] = {
    SPLIT_GPT2,
    SPLIT_CL100K,
    SPLIT_O200K,
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+",
};
enum { PATTERN_COUNT = sizeof PATTERNS / sizeof *PATTERNS };

/* Characters of each class and each letter that a pattern names. U+017F is a long s, which folds to s; U+0301 a mark; U+01C5 a
 * title case letter; FF is not UTF-8. */
static const char *const CHARACTERS[] = {
    "a",        "A",    "s",        "T",        "l",        "'",    " ",        "\n",       "\r",           "\t",
    "1",        "!",    "/",        "\xC3\xA9", "\xCC\x81", "\0",   "\xE4\xB8\xAD", "\xC2\xA0", "\xE3\x80\x80",
    "\xC7\x85", "\xCA\xB0", "\xC5\xBF", "E",    "v",        "r",    "\xF0\x9F\x98\x80", "\xE2\x85\xA7", "\xFF", "\xE4\xB8",
    "\xC2\x85", "\xE2\x80\xA8", "d",  "m",        "\xF3\xA0\x84\x80", "\xF0\x9D\x90\x80", "\xE1\xA0\x8E",
};
enum { CHARACTER_COUNT = sizeof CHARACTERS / sizeof *CHARACTERS, IN_ALL = 19, MOST_LETTERS = 40 };

typedef struct pair {
    split *known, *general;
    split_walk *w, *v;
} pair;

static pair pair_of(const char *pattern)
{
    char *group;
    assert_true(asprintf(&group, "(?:%s)", pattern) > 0);
    pair p = {.known = compile(pattern), .general = compile(group)};
    free(group);
    p.w = split_walk_new(p.known, NULL);
    p.v = split_walk_new(p.general, NULL);
    assert_true(p.w && p.v);
    return p;
}

static void free_pair(pair *p)
{
    split_walk_free(p->w);
    split_walk_free(p->v);
    split_free(p->known);
    split_free(p->general);
}

static size_t next(split_walk *w, const char *text, size_t size, size_t from)
{
    size_t end;
    rapt_error err = {0};
    if (split_next(w, text, size, from, &end, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    assert_true(end > from && end <= size);
    return end;
}

/* Some pieces at once are the same ones, whatever their number and the limit. */
static void assert_some(split_walk *w, const char *text, size_t size)
{
    enum { SOME = 3 };
    size_t ends[SOME], count, limit = size;
    rapt_error err = {0};
    for (size_t at = 0; at < size; limit = size - (size - at) / 2) {
        const size_t begin = at;
        assert_int_equal(split_some(w, text, size, at, limit, ends, SOME, &count, &err), RAPT_OK);
        for (size_t i = 0; i < count; at = ends[i++])
            assert_true(at < limit && ends[i] == next(w, text, size, at));
        assert_true(count == SOME || at >= limit);
        assert_true(at > begin);
    }
}

static void assert_same(const pair *p, const char *text, size_t size)
{
    assert_some(p->w, text, size);
    for (size_t at = 0, end; at < size; at = end) {
        end = next(p->w, text, size, at);
        size_t other = next(p->v, text, size, at);
        if (end != other) {
            for (size_t i = 0; i < size; i++)
                print_message("%s%02X", i == at ? " | " : " ", (unsigned char)text[i]);
            fail_msg("a piece of %zu bytes by hand, of %zu by PCRE2: %s", end - at, other - at, split_pattern(p->known));
        }
    }
}

/* A buffer of just this size, so that a sanitizer sees reads beyond it. */
static void compare(const pair *p, const uint8_t *which, size_t count)
{
    char text[4 * MOST_LETTERS];
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        const char *c = CHARACTERS[which[i]];
        size_t length = *c ? strlen(c) : 1;
        memcpy(text + size, c, length);
        size += length;
    }
    char *tight = malloc(size ? size : 1);
    memcpy(tight, text, size);
    assert_same(p, tight, size);
    free(tight);
}

static void test_all_short_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        pair p = pair_of(PATTERNS[i]);
        for (size_t n = 0; n < (size_t)IN_ALL * IN_ALL * IN_ALL * IN_ALL; n++) {
            uint8_t which[4] = {(uint8_t)(n % IN_ALL), (uint8_t)(n / IN_ALL % IN_ALL),
                                (uint8_t)(n / IN_ALL / IN_ALL % IN_ALL), (uint8_t)(n / IN_ALL / IN_ALL / IN_ALL)};
            compare(&p, which, 4);
        }
        free_pair(&p);
    }
}

static void test_random_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        pair p = pair_of(PATTERNS[i]);
        for (uint64_t n = 0; n < 40000; n++) {
            uint8_t which[MOST_LETTERS];
            uint64_t key = rng_mix(i, n);
            size_t count = rng_below(key, 0, MOST_LETTERS), kinds = 1 + rng_below(key, 1, CHARACTER_COUNT);
            for (size_t j = 0; j < count; j++)
                which[j] = (uint8_t)((rng_below(key, 2 + j, kinds) + n) % CHARACTER_COUNT);
            compare(&p, which, count);
        }
        free_pair(&p);
    }
}

/* ---- given pieces ------------------------------------------------------------------------------------------- */

static void assert_pieces(const char *pattern, const char *text, size_t size, const char *const *want)
{
    split *s = compile(pattern);
    split_walk *w = split_walk_new(s, NULL);
    size_t at = 0;
    for (size_t end; at < size; at = end, want++) {
        end = next(w, text, size, at);
        assert_non_null(*want);
        assert_int_equal(end - at, strlen(*want));
        assert_memory_equal(text + at, *want, end - at);
    }
    assert_null(*want);
    split_walk_free(w);
    split_free(s);
}

#define PIECES(pattern, text, ...) assert_pieces(pattern, text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__, NULL})

/* By hand from the patterns. */
static void test_known_pieces(void **state)
{
    (void)state;
    PIECES(SPLIT_GPT2, "I'll say 'tis 1234  times.", "I", "'ll", " say", " '", "tis", " 1234", " ", " times", ".");
    PIECES(SPLIT_CL100K, "I'LL say\t12345 !?\n\n x  ", "I", "'LL", " say", "\t", "123", "45", " !?\n\n", " x", "  ");
    PIECES(SPLIT_CL100K, "a \n \n  b \n ", "a", " \n \n", " ", " b", " \n ");
    PIECES(SPLIT_O200K, "HTTPServer's OKay CamelCase/\n/x \n y", "HTTPServer's", " OKay", " Camel", "Case", "/\n/", "x",
           " \n", " y");
    PIECES(SPLIT_O200K, "ABC DEFg", "ABC", " DEFg");
}

static void test_own_patterns(void **state)
{
    (void)state;
    PIECES("[a-z]+", "ab12cd!", "ab", "12", "cd", "!"); /* what doesn't match is a piece as well */
    PIECES("x", "abc", "abc");
    PIECES("a*", "baac", "b", "aa", "c"); /* an empty match cuts */
    PIECES("(?=(\\d{3})+(?!\\d))", "1234567", "1", "234", "567");
    PIECES("[a-z]+", "ab\xFF\xFE\xE4\xB8" "cd", "ab", "\xFF\xFE\xE4\xB8", "cd");
    PIECES(".*", "ab\ncd", "ab", "\n", "cd");
    PIECES("b$|^c", "ab\ncb", "a", "b", "\n", "c", "b");
    PIECES("\\w+|\\s", "\xC3\xA9\xCC\x81t\xC3\xA9 _1", "\xC3\xA9\xCC\x81t\xC3\xA9", " ", "_1"); /* marks are of words */
    PIECES("\\s+|\\S", " \xE1\xA0\x8E ", " ", "\xE1\xA0\x8E", " "); /* U+180E is no space since Unicode 6.3 */
    PIECES("[a-z&&[^aeiou]]+", "band", "b", "a", "nd"); /* sets as Oniguruma has them */
    PIECES("[^(\\s|[.,])]+", "ab (c|d).e", "ab", " (", "c", "|", "d", ").", "e");
    PIECES("(?i)k\\x{73}|(?-i:\\p{Greek}+)", "KSk\xC5\xBF\xE2\x84\xAAs\xCE\xB1\xCE\xA9", "KS", "k\xC5\xBF", "\xE2\x84\xAAs",
           "\xCE\xB1\xCE\xA9");
    PIECES("\\Ab|b\\z|\\Z\\n", "bbb\n", "b", "bb", "\n");
    PIECES("[^\\S\\n]+|\\b", "a \t\nb", "a", " \t", "\n", "b");
}

/* As tiktoken writes its patterns, which other programs would read otherwise: they become those. */
static void test_tiktoken_forms(void **state)
{
    (void)state;
    split *s = compile("'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s");
    assert_string_equal(split_pattern(s), SPLIT_GPT2);
    split_free(s);
    s = compile("'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
                "\\s*[\\r\\n]|\\s+(?!\\S)|\\s");
    assert_string_equal(split_pattern(s), SPLIT_CL100K);
    split_free(s);
}

static void assert_no_pattern(const char *pattern, const char *message)
{
    rapt_error err = {0};
    if (split_new(pattern, &err))
        fail_msg("%s is accepted", pattern);
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
    if (!strstr(err.message, message) || strchr(err.message, '\n'))
        fail_msg("\"%s\" has no \"%s\"", err.message, message);
}

static void test_refused_patterns(void **state)
{
    (void)state;
    assert_no_pattern("a(", "pattern, byte 2 of 2: missing closing parenthesis");
    assert_no_pattern("[a", "pattern, byte 2 of 2: missing terminating ]");
    assert_no_pattern("\xFF", "pattern, byte 1 of 1: not UTF-8");
    assert_no_pattern("a\\", "pattern, byte 2 of 2: \\ at the end");
    assert_no_pattern("a**b|(?<=a*)b", "pattern, byte");
    assert_no_pattern("\\p{Nothing}", "pattern, byte 1 of 11: of properties only");
    assert_no_pattern("a\\p{Alphabetic}", "pattern, byte 2 of 15: of properties only");
    assert_no_pattern("(a)\\1", "pattern, byte 4 of 5: a reference");
    assert_no_pattern("[a-\\d]", "pattern, byte 4 of 6: a range that ends in a class");
    assert_no_pattern("\\d{3}?", "pattern, byte 6 of 6: ? after");
    assert_no_pattern("\\d{1,3}+", "pattern, byte 8 of 8: +");
    assert_no_pattern("[[:alpha:]]", "pattern, byte 2 of 11: [:");
    assert_no_pattern("[a[b]", "pattern, byte 5 of 5: missing terminating ]");
    assert_no_pattern("\\h+", "pattern, byte 1 of 3: this escape");
    assert_no_pattern("(?m)a", "pattern, byte 1 of 5: of groups");
    assert_no_pattern("(*UTF)a", "pattern, byte 1 of 7: (*");
    assert_no_pattern("(a)\\Kb", "pattern, byte 4 of 6: this escape");
}

/* A pattern that goes back without end is stopped. */
static void test_endless_pattern(void **state)
{
    (void)state;
    size_t end;
    rapt_error err = {0};
    const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    split *s = compile("(?:a|aa)+$");
    split_walk *w = split_walk_new(s, NULL);
    assert_int_equal(split_next(w, text, sizeof text - 1, 0, &end, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "byte 1: the pattern takes too many steps here");
    split_walk_free(w);
    split_free(s);
}

/* ---- classes ------------------------------------------------------------------------------------------------ */

static unsigned class_of(const uint8_t *classes, uint32_t code)
{
    return code < CLASSES_SIZE ? classes[code] : classes_beyond(code);
}

static void test_classes(void **state)
{
    (void)state;
    uint8_t *classes = malloc(CLASSES_SIZE);
    size_t letters = 0, marks = 0, numbers = 0, spaces = 0;
    classes_fill(classes);
    for (uint32_t code = 0; code < 0x110000; code++) {
        unsigned kind = class_of(classes, code);
        letters += (kind & CLASS_LETTER) != 0;
        marks += kind == CLASS_MARK;
        numbers += kind == CLASS_NUMBER;
        spaces += (kind & CLASS_SPACE) != 0;
    }
    /* what UnicodeData.txt of version 16.0 counts, and White_Space */
    assert_int_equal(letters, 141028);
    assert_int_equal(marks, 2501);
    assert_int_equal(numbers, 1911);
    assert_int_equal(spaces, 25);
    free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_short_texts), cmocka_unit_test(test_random_texts),  cmocka_unit_test(test_known_pieces),
        cmocka_unit_test(test_own_patterns),    cmocka_unit_test(test_tiktoken_forms), cmocka_unit_test(test_refused_patterns),
        cmocka_unit_test(test_endless_pattern), cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
