/* base/suggest.h: "did you mean ...?" for words that a person typed: recipe keys, commands, options.
 * Not a search: it compares whole words. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate that may be meant by `word`: the one that other books and programs call so (synonyms.h), or else the nearest
 * (suggest_spelling), or else the only one of which `word` is a part between '-', '_' and '.'; NULL: none. */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t n);

/* Whether two names differ in nothing but case and which of '-', '_' and '.' stands between their words. */
bool suggest_same(const char *a, const char *b);

/* The candidate of which `word` is another name; NULL: none. */
const char *suggest_synonym(const char *word, const char *const *candidates, size_t n);

/* The candidate nearest to `word`, or NULL when none is near. Near means at most one edit in three characters
 * of `word` (one at least); an edit inserts, deletes or replaces a character or swaps two neighbors; upper
 * and lower case count as equal. Of equally near candidates the first wins. */
const char *suggest_spelling(const char *word, const char *const *candidates, size_t n);

#endif
