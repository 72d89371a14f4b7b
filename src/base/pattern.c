/* base/pattern.c: a search that returns to the last * only: what stood between two of them fits as early as it can, so no
 * earlier * has to take more. */
#include "base/pattern.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The character at *at, a byte of its own where it is no UTF-8; moves *at behind it. */
static uint32_t pattern_take(const char **at)
{
    const unsigned char *c = (const unsigned char *)*at;
    const int more = c[0] >= 0xF0 ? 3 : c[0] >= 0xE0 ? 2 : c[0] >= 0xC0 ? 1 : 0;
    uint32_t code = more ? c[0] & (0x3FU >> more) : c[0];
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xC0) != 0x80) {
            ++*at;
            return c[0];
        }
        code = code << 6 | (c[i] & 0x3FU);
    }
    *at += more + 1;
    return code;
}

static uint32_t take_literal(const char **pattern)
{
    *pattern += **pattern == '\\' && (*pattern)[1];
    return pattern_take(pattern);
}

/* Whether `code` is in the set that begins at *pattern, behind its [; moves *pattern behind its ]. *is_set is false, and *pattern
 * stays, if there is no ]. */
static bool is_in_set(const char **pattern, uint32_t code, bool *is_set)
{
    const char *at = *pattern;
    const bool none = *at == '!' || *at == '^';
    bool found = false;
    at += none;
    for (bool first = true; *at && (first || *at != ']'); first = false) {
        const uint32_t from = take_literal(&at);
        uint32_t to = from;
        if (at[0] == '-' && at[1] && at[1] != ']') {
            at++;
            to = take_literal(&at);
        }
        found = found || (from <= code && code <= to);
    }
    *is_set = *at == ']';
    if (*is_set)
        *pattern = at + 1;
    return found != none;
}

/* Whether the first character of a text, which is not empty, fits what *pattern begins with; moves both. */
static bool fits_one(const char **pattern, const char **text)
{
    const uint32_t code = pattern_take(text);
    if (**pattern == '?') {
        ++*pattern;
        return true;
    }
    if (**pattern == '[') {
        const char *set = *pattern + 1;
        bool is_set, in = is_in_set(&set, code, &is_set);
        if (is_set) {
            *pattern = set;
            return in;
        }
    }
    return **pattern && take_literal(pattern) == code;
}

bool pattern_fits(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text || *pattern) {
        const char *p = pattern, *t = text;
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*text && fits_one(&p, &t)) {
            pattern = p;
            text = t;
        } else if (star && *from) {
            pattern_take(&from);
            pattern = star;
            text = from;
        } else
            return false;
    }
    return true;
}
