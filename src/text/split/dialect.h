/* text/split/dialect.h: split patterns with the meaning that they have in Oniguruma, the library of `tokenizers`, for a library
 * without Unicode: characters and sets of characters become sets of kinds (kinds.h), the rest stays a pattern. For split.c. */
#ifndef TEXT_SPLIT_DIALECT_H
#define TEXT_SPLIT_DIALECT_H

#include "text/split/code_set.h"
#include "text/split/kinds.h"

/* The pattern for PCRE2, over bytes that are kinds, without UTF, UCP or any other option that changes its meaning; and these
 * kinds. RAPT_ERR_FORMAT, "pattern, byte N of M: reason": syntax that PCRE2 and Oniguruma read differently, syntax that needs
 * more than kinds (references to groups), and properties that are not in the tables. The caller frees *out and *kinds_out. */
rapt_code dialect_for_pcre2(const char *pattern, char **out, kinds **kinds_out, rapt_error *err);

/* ---- dialect_set.c: characters and sets of a pattern. For dialect.c. */

/* The character, escape or set [...] at pattern[*at], as a tidy set; *at moves past it. `fold`: regardless of case. Errors as in
 * dialect_for_pcre2. */
rapt_code dialect_set_take(const char *pattern, size_t *at, bool fold, code_set *out, rapt_error *err);
/* Adds the members of \w, `alone` or within a set. False on out-of-memory. */
bool dialect_set_word(code_set *s, bool alone);

#endif
