/* serve/module/openai_error.h: responses of OpenAI's dialect that are JSON, errors above all. */
#ifndef SERVE_MODULE_OPENAI_ERROR_H
#define SERVE_MODULE_OPENAI_ERROR_H

#include "serve/module/fields.h"

/* {"error": {"message", "type", "param", "code"}}: the status decides the type; `param` and `code` may be NULL or "", and are
 * then null. NULL: out of memory. */
json_t *openai_error_object(int status, const char *param, const char *code, const char *message);
/* Answers a request with it; 429 and 503 with Retry-After. */
void openai_error(exchange *x, int status, const char *param, const char *code, const char *message);
void openai_refuse(exchange *x, const request_error *e);

#endif
