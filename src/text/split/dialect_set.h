/* text/split/dialect_set.h: characters and sets of a pattern. For dialect.c. */
#ifndef TEXT_SPLIT_DIALECT_SET_H
#define TEXT_SPLIT_DIALECT_SET_H

#include "text/split/code_set.h"

/* The character, escape or set [...] at pattern[*at], as a tidy set; *at moves past it. `fold`: regardless of case. Errors as in
 * dialect_for_pcre2. */
rapt_code dialect_set_take(const char *pattern, size_t *at, bool fold, code_set *out, rapt_error *err);
/* Adds the members of \w, `alone` or within a set. False on out-of-memory. */
bool dialect_set_word(code_set *s, bool alone);

#endif
