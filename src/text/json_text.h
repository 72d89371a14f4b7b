/* text/json_text.h: JSON as text, whole or not at all. For files, logs and what programs print; and that of other programs. */
#ifndef TEXT_JSON_TEXT_H
#define TEXT_JSON_TEXT_H

#include <jansson.h>

/* As json_dumps, which can lose a part of the text where memory ends, and say nothing; and reals have the fewest digits that
 * read back as the same double, unless the flags have a JSON_REAL_PRECISION. To be freed; NULL: out of memory, or no `root`. */
char *json_text(const json_t *root, size_t flags);

/* As json_loadb, but integers that 64 bits do not hold are reals: transformers writes 10^30 as the "model_max_length" of
 * tokenizers without one. Changes such numbers in `text`. */
json_t *json_text_read(char *text, size_t size, size_t flags, json_error_t *where);

#endif
