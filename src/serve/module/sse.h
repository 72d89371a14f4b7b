/* serve/module/sse.h: server-sent events (WHATWG's HTML standard, section 9.2), as OpenAI's dialect streams them. */
#ifndef SERVE_MODULE_SSE_H
#define SERVE_MODULE_SSE_H

#include "serve/module/http_exchange.h"

#include <jansson.h>

void sse_begin(exchange *x);
/* Sends "data: OBJECT" and frees the object; NULL means that memory ran out for it. False: the client is gone, or memory ran
 * out. */
bool sse_send(exchange *x, json_t *object);
/* Like sse_send, with "event: NAME" before it, unless `name` is NULL. */
bool sse_send_named(exchange *x, const char *name, json_t *object);
/* Ends the response; if the stream is complete, sends "data: [DONE]" first. */
void sse_end(exchange *x, bool complete);

#endif
