/* test_capitalize.c: which letters get a capital. */
#include "text/prose/capitalize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(const char *text, const char *want)
{
    char *got = capitalize(text);
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static void test_words(void **state)
{
    (void)state;
    check("", "");
    check("   ", "   ");
    check("ein mann . er sitzt .", "Ein mann . Er sitzt .");
    check("\" komm ! \" rief er .", "\" Komm ! \" rief er .");
    check("where are you ? i am here .", "Where are you ? I am here .");
    check("2 hunde spielen .", "2 hunde spielen .");
    check("\u00E9t\u00E9 et hiver .", "\u00C9t\u00E9 et hiver .");
    check("\u4E00\u53EA\u72D7\u3002", "\u4E00\u53EA\u72D7\u3002");
    check("...", "...");
}

static void test_text(void **state)
{
    (void)state;
    check("ein mann. er sitzt.", "Ein mann. Er sitzt.");
    check("das ist gut. ja? nein! doch.", "Das ist gut. Ja? Nein! Doch.");
    check("am 3. mai, z.b. um acht", "Am 3. mai, z.b. um acht");
    check("\"komm!\" rief er. \"ja.\"", "\"Komm!\" rief er. \"ja.\"");
    check("Ein Mann.", "Ein Mann.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
