/* base/suggest.h: "did you mean ...?" for words that a person typed: recipe keys, commands, options.
 * Not a search: it compares whole words. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate that `word` may mean: one that other books and programs call `word` (synonyms.h), or else the nearest
 * (suggest_spelling), or else the only candidate that has `word` as a part between '-', '_' and '.'; NULL: none. */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t n);

/* Whether two names are equal when case is ignored and '-', '_' and '.' count as the same character. */
bool suggest_same(const char *a, const char *b);

/* The candidate that has `word` as another name; NULL: none. */
const char *suggest_synonym(const char *word, const char *const *candidates, size_t n);

/* The candidate nearest to `word`, or NULL when none is near. Near means at most one edit for each three characters of `word`,
 * and at least one; an edit inserts, deletes or replaces a character or swaps two neighbors; case is ignored. Among equally near
 * candidates the first wins. */
const char *suggest_spelling(const char *word, const char *const *candidates, size_t n);

#endif
