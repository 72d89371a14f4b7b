/* text/unicode/unicode_case.c: lower, upper and title case of a code point. The tables have runs of letters. */
#include "text/unicode/case_table.h"
#include "text/unicode/unicode.h"

enum { CAPITAL_I_DOT = 0x130, DOTLESS_I = 0x131 };

#define CASE_ROWS(table) sizeof(table) / sizeof *(table)

typedef uint32_t case_run[4]; /* first, last, the new code of the first, distance */

static bool in_run(const case_run run, uint32_t code)
{
    return code >= run[0] && code <= run[1] && (code - run[0]) % run[3] == 0;
}

static uint32_t map_case(const case_run *runs, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > runs[middle][1])
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && in_run(runs[low], code) ? code - runs[low][0] + runs[low][2] : code;
}

uint32_t unicode_lower(uint32_t code)
{
    return map_case(LOWER, CASE_ROWS(LOWER), code);
}

uint32_t unicode_upper(uint32_t code)
{
    return map_case(UPPER, CASE_ROWS(UPPER), code);
}

uint32_t unicode_title(uint32_t code)
{
    for (size_t i = 0; i < CASE_ROWS(TITLE); i++)
        if (in_run(TITLE[i], code))
            return code - TITLE[i][0] + TITLE[i][2];
    return unicode_upper(code);
}

/* The two letters i of Turkish do not fold. */
uint32_t unicode_fold(uint32_t code)
{
    return code == CAPITAL_I_DOT || code == DOTLESS_I ? code : unicode_lower(unicode_upper(code));
}

static void each_of_runs(const case_run *runs, size_t count, void (*each)(void *context, uint32_t code), void *context)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t code = runs[i][0]; code <= runs[i][1]; code += runs[i][3]) {
            each(context, code);
            each(context, code - runs[i][0] + runs[i][2]);
        }
}

void unicode_each_cased(void (*each)(void *context, uint32_t code), void *context)
{
    each_of_runs(LOWER, CASE_ROWS(LOWER), each, context);
    each_of_runs(UPPER, CASE_ROWS(UPPER), each, context);
}
