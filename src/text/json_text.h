/* text/json_text.h: JSON as text, whole or not at all. For files, logs and what programs print. */
#ifndef TEXT_JSON_TEXT_H
#define TEXT_JSON_TEXT_H

#include <jansson.h>

/* As json_dumps, which can lose a part of the text where memory ends, and say nothing; and reals have the fewest digits that
 * read back as the same double, unless the flags have a JSON_REAL_PRECISION. To be freed; NULL: out of memory, or no `root`. */
char *json_text(const json_t *root, size_t flags);

#endif
