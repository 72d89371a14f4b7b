/* text/json_text.h: JSON as text, whole or not at all. For files, logs and output of programs; and reading JSON of other
 * programs. */
#ifndef TEXT_JSON_TEXT_H
#define TEXT_JSON_TEXT_H

#include <jansson.h>

/* Like json_dumps, but that can silently lose a part of the text when memory ends. Reals have the fewest digits that read back as
 * the same double, unless the flags have a JSON_REAL_PRECISION. The caller frees it; NULL: out of memory, or no `root`. */
char *json_text(const json_t *root, size_t flags);

/* Like json_loadb, but integers that do not fit 64 bits are reals: transformers writes 10^30 as the "model_max_length" of
 * tokenizers without one. Changes such numbers in `text`. */
json_t *json_text_read(char *text, size_t size, size_t flags, json_error_t *where);

#endif
