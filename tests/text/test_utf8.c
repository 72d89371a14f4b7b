/* test_utf8.c: UTF-8 decoding, classes of code points, lower case.
 * For src/text/utf8.c.
 * Not a test of Unicode's tables (test_unicode.c): a few of each class will do. */
#include "text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Number of valid bytes, by the "well-formed byte sequences" of the Unicode standard, table 3-7. */
static void test_valid_prefix(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size, valid;
    } cases[] = {
        {"", 0, 0},
        {"abc", 3, 3},
        {"a\0b", 3, 3},
        {"\xC3\xA4", 2, 2},
        {"\xE4\xBD\xA0", 3, 3},
        {"\xF0\x9F\x98\x80", 4, 4},
        {"\xF4\x8F\xBF\xBF", 4, 4},     /* 10FFFF */
        {"\xF4\x90\x80\x80", 4, 0},     /* 110000 */
        {"\xF5\x80\x80\x80", 4, 0},
        {"\xED\x9F\xBF", 3, 3},         /* D7FF */
        {"\xED\xA0\x80", 3, 0},         /* D800, a surrogate */
        {"\xED\xBF\xBF", 3, 0},         /* DFFF */
        {"\xEE\x80\x80", 3, 3},         /* E000 */
        {"\xC0\x80", 2, 0},             /* overlong NUL */
        {"\xC1\xBF", 2, 0},             /* overlong 7F */
        {"\xE0\x9F\xBF", 3, 0},         /* overlong 7FF */
        {"\xE0\xA0\x80", 3, 3},         /* 800 */
        {"\xF0\x8F\xBF\xBF", 4, 0},     /* overlong FFFF */
        {"\xF0\x90\x80\x80", 4, 4},     /* 10000 */
        {"ab\x80", 3, 2},               /* continuation without a lead */
        {"ab\xC3", 3, 2},               /* cut off */
        {"ab\xE4\xBD", 4, 2},
        {"\xC3\xA4\xC3(", 4, 2},        /* lead without continuation */
        {"x\xFEy", 3, 1},
        {"x\xFF", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_valid_prefix(cases[i].text, cases[i].size), cases[i].valid);
}

static void test_decode(void **state)
{
    (void)state;
    uint32_t code = 0;
    assert_int_equal(utf8_decode("A", 1, &code), 1);
    assert_int_equal(code, 'A');
    assert_int_equal(utf8_decode("\xC3\xA4x", 3, &code), 2);
    assert_int_equal(code, 0xE4);
    assert_int_equal(utf8_decode("\xE2\x82\xAC", 3, &code), 3);
    assert_int_equal(code, 0x20AC);
    assert_int_equal(utf8_decode("\xF0\x9F\x98\x80", 4, &code), 4);
    assert_int_equal(code, 0x1F600);
    assert_int_equal(utf8_decode("", 0, &code), 0);
    assert_int_equal(utf8_decode("\xF0\x9F\x98\x80", 3, &code), 0);
}

static void test_every_code_point_comes_back(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x110010; code++) {
        char bytes[4];
        uint32_t back = ~code;
        bool sound = code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
        size_t length = utf8_put(code, bytes);
        if (!sound) {
            assert_int_equal(length, 0);
            continue;
        }
        assert_int_equal(length, 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF));
        assert_int_equal(utf8_decode(bytes, length, &back), length);
        assert_int_equal(back, code);
    }
}

static void test_classes(void **state)
{
    (void)state;
    assert_true(utf8_is_letter('a') && utf8_is_letter(0xC4) && utf8_is_letter(0x4F60));
    assert_true(utf8_is_letter(0x2B0));
    assert_false(utf8_is_letter('1') || utf8_is_letter('.') || utf8_is_letter(0x301) || utf8_is_letter(' '));
    assert_true(utf8_is_number('7') && utf8_is_number(0x663) && utf8_is_number(0xBD));
    assert_true(utf8_is_number(0x2167));
    assert_false(utf8_is_number('a') || utf8_is_number('-'));
    assert_true(utf8_is_punctuation('.') && utf8_is_punctuation('_') && utf8_is_punctuation(0x201E));
    assert_true(utf8_is_punctuation(0x3002) && utf8_is_punctuation('-') && utf8_is_punctuation(')'));
    assert_false(utf8_is_punctuation('$') || utf8_is_punctuation('a') || utf8_is_punctuation(0x20AC));
    assert_true(utf8_is_symbol('$') && utf8_is_symbol('+') && utf8_is_symbol('^') && utf8_is_symbol(0x1F600));
    assert_false(utf8_is_symbol('%') || utf8_is_symbol('a') || utf8_is_symbol(0x378));
}

/* str.isspace() is true for exactly these in Python. */
static void test_spaces(void **state)
{
    (void)state;
    static const uint32_t spaces[] = {
        0x9,    0xA,    0xB,    0xC,    0xD,    0x1C,   0x1D,   0x1E,   0x1F,   0x20,
        0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
        0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
    };
    size_t next = 0, count = sizeof spaces / sizeof *spaces;
    for (uint32_t code = 0; code < 0x11000; code++) {
        bool listed = next < count && spaces[next] == code;
        next += listed;
        assert_int_equal(utf8_is_space(code), listed);
    }
    assert_int_equal(next, count);
}

static void assert_lower(const char *text, const char *want)
{
    size_t size = 0;
    char *lower = utf8_lowercase(text, strlen(text), &size);
    assert_non_null(lower);
    assert_string_equal(lower, want);
    assert_int_equal(size, strlen(want));
    free(lower);
}

/* Expectations are what Python's str.lower() gives. */
static void test_lowercase(void **state)
{
    (void)state;
    assert_lower("", "");
    assert_lower("Hello WORLD 123", "hello world 123");
    assert_lower("STRASSE ÄÖÜ ẞ", "strasse äöü ß");
    assert_lower("İstanbul", "i̇stanbul");
    assert_lower("Ⱥ", "ⱥ"); /* two bytes become three */
    assert_lower("ȺȺȺȺȺȺȺȺ", "ⱥⱥⱥⱥⱥⱥⱥⱥ");
    assert_lower("ПРИВЕТ", "привет");
    assert_lower("Ⅷ Ⓐ ǅ", "ⅷ ⓐ ǆ");
    assert_lower("你好", "你好");
}

static void test_final_sigma(void **state)
{
    (void)state;
    assert_lower("ΟΔΟΣ", "οδος");
    assert_lower("ΟΔΟΣ ΟΔΟΣ.", "οδος οδος.");
    assert_lower("ΣΟΦΟΣ", "σοφος");
    assert_lower("Σ", "σ");
    assert_lower(" Σ", " σ");
    assert_lower("ΑΣΑ", "ασα");
    assert_lower("Α'Σ", "α'ς");   /* an apostrophe is within a word, */
    assert_lower("ΑΣ'Α", "ασ'α");
    assert_lower("ΑΣ:Α", "ασ:α");
    assert_lower("ΑΣ-Α", "ας-α"); /* a dash is not */
    assert_lower("1Σ", "1σ");
}

static void test_lowercase_keeps_nul(void **state)
{
    (void)state;
    size_t size = 0;
    char *lower = utf8_lowercase("A\0B", 3, &size);
    assert_non_null(lower);
    assert_int_equal(size, 3);
    assert_memory_equal(lower, "a\0b", 4);
    free(lower);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_prefix),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_every_code_point_comes_back),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_lowercase),
        cmocka_unit_test(test_final_sigma),
        cmocka_unit_test(test_lowercase_keeps_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
