/* serve/module/openai_calls.h: replies that may call tools, as choices of chats: whole, and bit by bit. */
#ifndef SERVE_MODULE_OPENAI_CALLS_H
#define SERVE_MODULE_OPENAI_CALLS_H

#include "serve/module/openai_run.h"

typedef struct openai_calls openai_calls;

/* The choice of a reply, whose text c->text has: its message with "tool_calls", if it calls any. `logprobs` is taken over.
 * NULL: out of memory. */
json_t *openai_calls_whole(const openai_choice *c, json_t *logprobs);
/* A list of choices of chunks for the next `size` bytes of a reply, maybe none: openai_shape.parts. */
json_t *openai_calls_parts(openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish);
void openai_calls_free(openai_calls *calls); /* NULL is fine */

#endif
