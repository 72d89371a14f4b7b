/* cli/put_json.h: one JSON object as the output of a command. */
#ifndef CLI_PUT_JSON_H
#define CLI_PUT_JSON_H

#include "rapt/base.h"

#include <jansson.h>

/* Prints an object on stdout with a line feed, and frees it; NULL means that memory ran out for it. `flags` are as for json_text.
 * Returns RAPT_ERR_MEMORY or RAPT_OK; a failure to write to stdout is found at exit, as for every command. */
rapt_code put_json(json_t *object, size_t flags, rapt_error *err);

#endif
