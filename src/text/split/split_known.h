/* text/split/split_known.h: the well-known split patterns, matched by hand: several times as fast as a regular expression, and
 * with one version of Unicode everywhere. For split.c. */
#ifndef TEXT_SPLIT_SPLIT_KNOWN_H
#define TEXT_SPLIT_SPLIT_KNOWN_H

#include "rapt/base.h"

typedef struct split_text {
    const unsigned char *text;
    size_t size;
    const uint8_t *classes; /* from classes_fill */
} split_text;

typedef struct split_known {
    const char *pattern;
    const char *portable; /* an equal pattern that PCRE2 and Oniguruma read alike */
    /* The ends of the pieces from `at` on that begin before `limit`, at most `most` of them, up to a piece that does not begin
     * with valid UTF-8; returns their number. */
    size_t (*ends)(const split_text *t, size_t at, size_t limit, size_t *ends, size_t most);
} split_known;

/* NULL: not a known one. */
const split_known *split_known_find(const char *pattern);

#endif
