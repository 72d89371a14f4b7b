/* cli/translation_json.h: a translation as one JSON object, for `rapt translate --json`. It has the members that the server's
 * POST /v1/translate has for a text, and the number of its line. */
#ifndef CLI_TRANSLATION_JSON_H
#define CLI_TRANSLATION_JSON_H

#include "rapt/decode.h"

#include <jansson.h>

typedef struct translation_json {
    const rapt_model *m;
    bool tokens, alignment, soft; /* the parts that were requested; soft: attention weights in place of links */
} translation_json;

/* NULL: out of memory. */
json_t *translation_json_of(const translation_json *j, size_t line, const rapt_translation *t);

#endif
