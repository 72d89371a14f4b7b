/* decode/suppressed.h: texts that translations must not have, as tokens. For translate_settings.c. */
#ifndef DECODE_SUPPRESSED_H
#define DECODE_SUPPRESSED_H

#include "rapt/io.h"

typedef struct suppressed {
    rapt_token_list *lists; /* [count] */
    size_t count;
} suppressed;

/* The tokens of each line of `texts` (NULL: there are none), as it is encoded at the beginning of a text and behind a space.
 * RAPT_ERR_VALUE as in rapt/decode.h. */
rapt_code suppressed_encode(suppressed *s, const rapt_model *m, const char *texts, rapt_error *err);
/* Frees the lists; fine on a zeroed one. */
void suppressed_free(suppressed *s);

#endif
