/* view/figure/letters.c: widths of letters: a table for ASCII, East Asian Width for wide ones, and a mean for each of the others.
 * No shaping: where letters join or stack, the estimate is too wide. */
#include "view/figure/letters.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <string.h>

enum { FIRST = 0x20, LAST = 0x7E };

/* Hundredths of the size of DejaVu Sans; Verdana's differ by two or less. */
static const unsigned char ascii[LAST - FIRST + 1] = {
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84,
    84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39,
    34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,
    52, 64, 34, 64, 84,
};
#define BOLDER 1.12 /* DejaVu Sans Bold is wider by a tenth on average, and lower case by a little more */

/* A mean of letters of that kind; signs and symbols are wider. */
static double letters_of_kind(uint32_t code)
{
    switch (unicode_category_of(code)) {
    case UNICODE_LU:
    case UNICODE_LT: return 0.75;
    case UNICODE_SM:
    case UNICODE_SO: return 0.84;
    default: return code == 0x2026 ? 1.0 : 0.66; /* 0x2026: an ellipsis */
    }
}

double letters_width(const char *line, bool bold)
{
    const size_t size = strlen(line);
    double width = 0;
    for (size_t at = 0, used; at < size; at += used) {
        uint32_t code = 0;
        used = utf8_decode(line + at, size - at, &code);
        used = used ? used : 1;
        if (code >= FIRST && code <= LAST)
            width += ascii[code - FIRST] / 100.0;
        else
            width += unicode_width(code) == 1 ? letters_of_kind(code) : unicode_width(code) / 2.0;
    }
    return bold ? BOLDER * width : width;
}

/* The blocks of Unicode that are right-to-left by default (Bidi_Class, defaults of DerivedBidiClass.txt). */
static bool letters_of_left(uint32_t code)
{
    return (code >= 0x0590 && code <= 0x08FF) || (code >= 0xFB1D && code <= 0xFDFF) || (code >= 0xFE70 && code <= 0xFEFE) ||
           (code >= 0x10800 && code <= 0x10FFF) || (code >= 0x1E800 && code <= 0x1EFFF);
}

bool letters_run_left(const char *line)
{
    const size_t size = strlen(line);
    for (size_t at = 0, used; at < size; at += used) {
        uint32_t code = 0;
        used = utf8_decode(line + at, size - at, &code);
        used = used ? used : 1;
        const unicode_category kind = unicode_category_of(code);
        if (kind == UNICODE_LU || kind == UNICODE_LL || kind == UNICODE_LT || kind == UNICODE_LM || kind == UNICODE_LO)
            return letters_of_left(code);
    }
    return false;
}
