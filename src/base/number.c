/* base/number.c: writes numbers with as few digits as identify them. 15 digits may suffice for a double and 17 always do, so 15,
 * 16 and 17 are tried. */
#include "base/number.h"

#include "base/c_locale.h"

#include <stdio.h>
#include <stdlib.h>

void number_write(double value, char text[NUMBER_TEXT])
{
    void *before = c_locale_enter();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    c_locale_leave(before);
}

void number_write_fixed(double value, int decimals, char text[NUMBER_TEXT])
{
    void *before = c_locale_enter();
    snprintf(text, NUMBER_TEXT, "%.*f", decimals, value);
    c_locale_leave(before);
}

void number_write_digits(double value, int digits, char text[NUMBER_TEXT])
{
    void *before = c_locale_enter();
    snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
    c_locale_leave(before);
}

double number_read(const char *text, char **end)
{
    void *before = c_locale_enter();
    double value = strtod(text, end);
    c_locale_leave(before);
    return value;
}
