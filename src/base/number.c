/* base/number.c: writes numbers with as few digits as identify them. 15 digits may suffice for a double and 17 always do, so 15,
 * 16 and 17 are tried. */
#define _GNU_SOURCE
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* This changes the calling thread's locale only. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t before)
{
    freelocale(uselocale(before));
}

void number_write(double value, char text[NUMBER_TEXT])
{
    locale_t before = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_c_locale(before);
}

void number_write_fixed(double value, int decimals, char text[NUMBER_TEXT])
{
    locale_t before = enter_c_locale();
    snprintf(text, NUMBER_TEXT, "%.*f", decimals, value);
    leave_c_locale(before);
}

void number_write_digits(double value, int digits, char text[NUMBER_TEXT])
{
    locale_t before = enter_c_locale();
    snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
    leave_c_locale(before);
}

double number_read(const char *text, char **end)
{
    locale_t before = enter_c_locale();
    double value = strtod(text, end);
    leave_c_locale(before);
    return value;
}
