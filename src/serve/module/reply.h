/* serve/module/reply.h: responses that are a JSON object. */
#ifndef SERVE_MODULE_REPLY_H
#define SERVE_MODULE_REPLY_H

#include "serve/module/http_exchange.h"

#include "rapt/base.h"

#include <jansson.h>

/* The whole response, and frees `body`. Reals have the fewest digits that read back as the same double. NULL, or out of memory
 * for its text: status 503, in the shape of its path. A 503 says when to try again. */
void reply_json(exchange *x, int status, json_t *body);

/* The status of HTTP for a failure of the library while it worked for a request: 400 where the request is at fault, 503 where
 * another try may succeed. */
int reply_status(rapt_code code);

/* A float that reads back as the same one, with at most nine digits. NULL: out of memory. */
json_t *reply_real(rapt_real value);

#endif
