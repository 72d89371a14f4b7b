/* tests/base/test_number.c: numbers as text: the fewest digits that come back, a point in every locale. */
#include "base/number.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_known(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"}, {1e-5, "1e-05"}, {0.088, "0.088"}, {1e6, "1000000"}, {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"}, {-2, "-2"}, {0, "0"}, {9007199254740992, "9007199254740992"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_TEXT];
        number_write(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
        assert_true(number_read(text, NULL) == cases[i].value);
    }
}

static void test_rounded(void **state)
{
    (void)state;
    char text[NUMBER_TEXT];
    number_write_fixed(-2.25, 1, text);
    assert_string_equal(text, "-2.2"); /* a tie goes to the even digit */
    number_write_fixed(1000, 0, text);
    assert_string_equal(text, "1000");
    number_write_digits(1234567, 3, text);
    assert_string_equal(text, "1.23e+06");
    number_write_digits(0.5, 6, text);
    assert_string_equal(text, "0.5");
    number_write_fixed(1e300, 5, text);
    assert_int_equal(strlen(text), NUMBER_TEXT - 1);
}

/* Doubles of any bits come back. */
static void test_any(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[NUMBER_TEXT];
        double value;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (value != value || value - value != 0)
            continue;
        number_write(value, text);
        assert_true(number_read(text, NULL) == value);
    }
}

static void test_locale(void **state)
{
    (void)state;
    char text[NUMBER_TEXT], *end;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    number_write(0.5, text);
    assert_string_equal(text, "0.5");
    number_write_fixed(0.25, 2, text);
    assert_string_equal(text, "0.25");
    number_write_digits(0.25, 6, text);
    assert_string_equal(text, "0.25");
    assert_true(number_read("2.5 x", &end) == 2.5);
    assert_string_equal(end, " x");
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_rounded), cmocka_unit_test(test_any),
                                       cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
