/* serve/module/refusal.h: errors in the shape that the clients of a path expect: OpenAI's for /v1/, DeepL's for /v2/,
 * LibreTranslate's elsewhere. For requests that are refused before a route's function sees them. */
#ifndef SERVE_MODULE_REFUSAL_H
#define SERVE_MODULE_REFUSAL_H

#include "serve/module/http_exchange.h"

/* OpenAI's word for a class of errors, by the status: "invalid_request_error". */
const char *refusal_type(int status);
/* Answers with `message` for people and `code` for programs. */
void refusal_reply(exchange *x, int status, const char *code, const char *message);
/* Replies 503 or 429 with Retry-After, and retry-after-ms, which OpenAI's clients read. */
void refusal_reply_later(exchange *x, int status, const char *code, const char *message, double seconds);

#endif
