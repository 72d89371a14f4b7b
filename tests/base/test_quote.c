/* tests/base/test_quote.c: what must not reach a terminal in a message: controls, separators, changes of direction, bytes that
 * are not UTF-8. What may, stays as it is.
 * For src/base/quote.c and error.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/quote.h"
#include "rapt/base.h"

#include <string.h>

static void cleaned(const char *text, const char *wanted)
{
    char copy[200];
    rapt_error err = {0};
    strcpy(copy, text);
    quote_clean(copy);
    assert_string_equal(copy, wanted);
    assert_string_equal(quote(text).text, wanted);
    rapt_fail(&err, RAPT_ERR_VALUE, "<%s>", text);
    assert_memory_equal(err.message + 1, wanted, strlen(wanted));
    assert_string_equal(err.message + 1 + strlen(wanted), ">");
}

static void what_commands_a_terminal(void **state)
{
    (void)state;
    cleaned("a\x1B[31mb\x7F\t\n\r", "a?[31mb????");
    cleaned("\xC2\x9B" "31m\xC2\x80\xC2\x9F", "?31m??"); /* C1: CSI */
    cleaned("\x9B" "31m", "?31m");                       /* as a byte of Latin-1 */
}

static void what_changes_order_or_lines(void **state)
{
    (void)state;
    cleaned("a\xE2\x80\xAE" "b\xE2\x80\xAA\xE2\x80\xAB\xE2\x80\xAC\xE2\x80\xAD", "a?b????"); /* U+202A to U+202E */
    cleaned("\xE2\x81\xA6\xE2\x81\xA7\xE2\x81\xA8\xE2\x81\xA9", "????");                     /* U+2066 to U+2069 */
    cleaned("\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "???");                                       /* U+200E, U+200F, U+061C */
    cleaned("\xE2\x80\xA8\xE2\x80\xA9", "??");                                               /* U+2028, U+2029 */
    cleaned("\xF3\xA0\x80\x81", "?");                                                        /* U+E0001 */
}

static void bytes_that_are_no_characters(void **state)
{
    (void)state;
    cleaned("\xFF" "a\x80\xC3", "?a??");
    cleaned("\xC0\xAF\xE0\x80\xAF", "?????");        /* overlong */
    cleaned("\xED\xA0\x80\xF4\x90\x80\x80", "???????"); /* a surrogate; beyond U+10FFFF */
    cleaned("\xE4\xB8z", "??z");                     /* cut off */
}

static void what_may_be_shown(void **state)
{
    (void)state;
    static const char text[] = "caf\xC3\xA9 \xE4\xB8\xAD\xE6\x96\x87 \xD8\xB9\xD8\xB1\xD8\xA8 "
                               "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC \xC2\xA0\xE2\x80\x94\xEF\xBF\xBD\xF4\x8F\xBF\xBD";
    cleaned(text, text);
    cleaned("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_commands_a_terminal), cmocka_unit_test(what_changes_order_or_lines),
        cmocka_unit_test(bytes_that_are_no_characters), cmocka_unit_test(what_may_be_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
