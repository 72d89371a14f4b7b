/* text/unicode/unicode.c: categories and widths. */
#include "text/unicode/unicode.h"

#include "text/unicode/category_table.h"
#include "text/unicode/unicode_runs.h"
#include "text/unicode/width_table.h"

enum { CATEGORY_BITS = 5, ALTERNATING = 30, SOFT_HYPHEN = 0xAD, FIRST_VOWEL = 0x1160, LAST_FINAL = 0x11FF };

static const unicode_runs CATEGORIES = UNICODE_RUNS(CATEGORY, CATEGORY_BITS);

unicode_category unicode_category_run(uint32_t code, uint32_t *end)
{
    *end = code + 1;
    if (code >= UNICODE_END)
        return UNICODE_CN;
    size_t run = unicode_run_of(&CATEGORIES, code);
    unsigned category = CATEGORY_RUNS[run] & ((1u << CATEGORY_BITS) - 1);
    if (category == ALTERNATING)
        return (code - (CATEGORY_RUNS[run] >> CATEGORY_BITS)) % 2 ? UNICODE_LL : UNICODE_LU;
    *end = run + 1 < CATEGORIES.count ? CATEGORY_RUNS[run + 1] >> CATEGORY_BITS : UNICODE_END;
    return (unicode_category)category;
}

unicode_category unicode_category_of(uint32_t code)
{
    uint32_t end;
    return unicode_category_run(code, &end);
}

static bool is_wide(uint32_t code)
{
    size_t low = 0, high = sizeof WIDE / sizeof *WIDE;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > WIDE[middle][1])
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof WIDE / sizeof *WIDE && code >= WIDE[low][0];
}

/* The vowels and final consonants of Hangul stand within the syllable that begins before them. */
unsigned unicode_width(uint32_t code)
{
    switch (unicode_category_of(code)) {
    case UNICODE_CF: return code == SOFT_HYPHEN;
    case UNICODE_CN:
    case UNICODE_MN:
    case UNICODE_ME:
    case UNICODE_ZL:
    case UNICODE_ZP:
    case UNICODE_CC:
    case UNICODE_CS: return 0;
    default: return code >= FIRST_VOWEL && code <= LAST_FINAL ? 0 : is_wide(code) ? 2 : 1;
    }
}
