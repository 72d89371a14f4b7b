/* text/split/dialect.h: split patterns of one meaning for PCRE2 and for Oniguruma, which `tokenizers` matches with. For
 * split.c; not a parser: what it does not know goes through to PCRE2 as it is. */
#ifndef TEXT_SPLIT_DIALECT_H
#define TEXT_SPLIT_DIALECT_H

#include "rapt/base.h"

/* The pattern for PCRE2 with UTF, UCP and multi-line: \s \S \w \W \b \B become sets of Oniguruma's meaning. What both
 * read, but not alike, is refused: RAPT_ERR_FORMAT, "pattern, byte N: reason". The caller frees *out. */
rapt_code dialect_for_pcre2(const char *pattern, char **out, rapt_error *err);

#endif
