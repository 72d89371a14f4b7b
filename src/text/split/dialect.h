/* text/split/dialect.h: split patterns with the meaning that Oniguruma gives them, which `tokenizers` matches with, for a
 * library that knows no Unicode: characters and sets of characters become sets of kinds (kinds.h), the rest stays a pattern. For
 * split.c. */
#ifndef TEXT_SPLIT_DIALECT_H
#define TEXT_SPLIT_DIALECT_H

#include "text/split/kinds.h"

/* The pattern for PCRE2, over bytes that are kinds, without UTF, UCP or any option of meaning; and those kinds. What PCRE2 and
 * Oniguruma both read, but not alike, what needs more than kinds (references to groups), and properties that are not in the
 * tables are refused: RAPT_ERR_FORMAT, "pattern, byte N of M: reason". The caller frees *out and *kinds_out. */
rapt_code dialect_for_pcre2(const char *pattern, char **out, kinds **kinds_out, rapt_error *err);

#endif
