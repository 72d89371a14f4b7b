/* serve/module/openai_format.h: the field "response_format" of chats and completions, and "text.format" of responses: text, or
 * JSON that obeys a schema. */
#ifndef SERVE_MODULE_OPENAI_FORMAT_H
#define SERVE_MODULE_OPENAI_FORMAT_H

#include "serve/module/openai_answer.h"

/* Reads it into the options of `r`, all others of which have been read. Errors are left in the fields: among them a schema with
 * something that is not supported, by name and place, and a model whose tokens cannot be constrained. */
void openai_format_read(openai_request *r, const openai_asked *q);
/* Reads the field "text" of a response likewise. */
void openai_format_read_text(openai_request *r, const openai_asked *q);
/* The field "text" as a response repeats it; NULL: out of memory. */
json_t *openai_format_text(const openai_request *r);
/* Makes the constraint of the schema that is in the options, for `field`, which errors name. */
void openai_format_constrain(openai_request *r, const openai_asked *q, const char *field);
/* Adds the options of `rapt generate` that say the same. */
void openai_format_replay(const openai_request *r, replay *to);

#endif
