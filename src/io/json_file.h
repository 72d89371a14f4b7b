/* io/json_file.h: JSON files in. For model folders, ours and other programs'. */
#ifndef IO_JSON_FILE_H
#define IO_JSON_FILE_H

#include "rapt/base.h"

#include <jansson.h>

/* Reads a regular file of at most `max_bytes`; the caller owns the value. NULL with `err` set: "PATH:LINE: reason" if it is not
 * JSON, or an object has a key twice. */
json_t *json_file_read(const char *path, size_t max_bytes, rapt_error *err);

#endif
