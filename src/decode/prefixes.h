/* decode/prefixes.h: forced prefixes of translations as tokens. For translate.c. */
#ifndef DECODE_PREFIXES_H
#define DECODE_PREFIXES_H

#include "search/sentence.h"

typedef struct prefixes {
    int32_t **ids;         /* [count], to be freed */
    search_prefix *prefix; /* [count] */
    size_t count;
} prefixes;

/* The tokens of each of `count` texts; those whose `data` is NULL have none. `policy` is the decoding policy, whose forced first
 * token also takes a position. RAPT_ERR_VALUE as in rapt/decode.h. */
rapt_code prefixes_encode(prefixes *p, const rapt_model *m, const rapt_search_policy *policy, const rapt_text *texts,
                          size_t count, rapt_error *err);
void prefixes_free(prefixes *p);

#endif
