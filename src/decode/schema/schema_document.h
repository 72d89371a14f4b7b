/* decode/schema/schema_document.h: the text of a schema as JSON. For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_DOCUMENT_H
#define DECODE_SCHEMA_SCHEMA_DOCUMENT_H

#include "rapt/base.h"

#include <jansson.h>

/* An object, true or false; the caller frees it. Reals within it that are whole are integers, as far as they lie between the
 * bounds of integers: 1.0 is one to a schema, but not to all who read JSON. NULL with `err` set: RAPT_ERR_VALUE: it is something
 * else, or too large; RAPT_ERR_MEMORY. */
json_t *schema_document_read(const char *text, size_t size, rapt_error *err);

#endif
