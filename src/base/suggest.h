/* base/suggest.h: "did you mean ...?" for words that a person typed: recipe keys, commands, options.
 * Not a search: it compares whole words. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The candidate nearest to `word`, or NULL when none is near. Near means at most one edit in three characters
 * of `word` (one at least); an edit inserts, deletes or replaces a character or swaps two neighbors; upper
 * and lower case count as equal. Of equally near candidates the first wins. */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t n);

#endif
