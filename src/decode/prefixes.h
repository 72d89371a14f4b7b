/* decode/prefixes.h: the tokens that translations are to begin with, from text. For translate.c. */
#ifndef DECODE_PREFIXES_H
#define DECODE_PREFIXES_H

#include "decode/search.h"

typedef struct prefixes {
    int32_t **ids;         /* [count], to be freed */
    search_prefix *prefix; /* [count] */
    size_t count;
} prefixes;

/* The tokens of each of `count` texts, of none for NULL. `policy`: what decodes, whose forced first token takes a position, too.
 * RAPT_ERR_VALUE as rapt/decode.h says. */
rapt_code prefixes_encode(prefixes *p, const rapt_model *m, const rapt_search_policy *policy, const char *const *texts,
                          size_t count, rapt_error *err);
void prefixes_free(prefixes *p);

#endif
