/* text/split/dialect.h: split patterns with the meaning that they have in Oniguruma, the library of `tokenizers`, for a library
 * without Unicode: characters and sets of characters become sets of kinds (kinds.h), the rest stays a pattern. For split.c. */
#ifndef TEXT_SPLIT_DIALECT_H
#define TEXT_SPLIT_DIALECT_H

#include "text/split/kinds.h"

/* The pattern for PCRE2, over bytes that are kinds, without UTF, UCP or any other option that changes its meaning; and these
 * kinds. RAPT_ERR_FORMAT, "pattern, byte N of M: reason": syntax that PCRE2 and Oniguruma read differently, syntax that needs
 * more than kinds (references to groups), and properties that are not in the tables. The caller frees *out and *kinds_out. */
rapt_code dialect_for_pcre2(const char *pattern, char **out, kinds **kinds_out, rapt_error *err);

#endif
