/* tests/base/test_pattern.c: patterns by hand, and beside fnmatch of the C library.
 * For src/base/pattern.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pattern.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static void by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*.weights", "encoder.0.weights", true},
        {"*.weights", "encoder.0.weights.grad", false},
        {"a*b*c", "a/b/c", true},
        {"a*b*c", "abbc", true},
        {"a*b*c", "acb", false},
        {"?", "\xE8\xAF\x8D", true}, /* one character of three bytes */
        {"??", "\xE8\xAF\x8D", false},
        {"[\xE8\xAF\x80-\xE8\xAF\xBF]", "\xE8\xAF\x8D", true},
        {"[!a-c]x", "dx", true},
        {"[!a-c]x", "bx", false},
        {"[]]", "]", true},
        {"[a", "[a", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\", "a\\", true},
        {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pattern_fits(cases[i].pattern, cases[i].text) != cases[i].fits)
            fail_msg("%s and %s", cases[i].pattern, cases[i].text);
}

static void random_text(char *text, size_t most, const char *from)
{
    size_t size = (size_t)rand() % (most + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = from[(size_t)rand() % strlen(from)];
    text[size] = '\0';
}

/* In the C locale, where a character is a byte. Ranges that end in a set's ] or begin at its - are left to POSIX's words. */
static void as_fnmatch(void **state)
{
    (void)state;
    srand(3);
    size_t fit = 0;
    for (int i = 0; i < 400000; i++) {
        char pattern[12], text[12];
        random_text(pattern, 8, i % 2 ? "ab*?" : "ab*?[!]\\");
        random_text(text, 8, i % 3 ? "ab" : "ab[]!");
        const bool wanted = fnmatch(pattern, text, 0) == 0;
        const size_t size = strlen(pattern);
        if (size && pattern[size - 1] == '\\') /* undefined */
            continue;
        if (pattern_fits(pattern, text) != wanted)
            fail_msg("pattern %s, text %s: fnmatch says %d", pattern, text, wanted);
        fit += wanted;
    }
    assert_true(fit > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(as_fnmatch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
