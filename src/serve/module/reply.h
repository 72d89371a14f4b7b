/* serve/module/reply.h: responses that are a JSON object. */
#ifndef SERVE_MODULE_REPLY_H
#define SERVE_MODULE_REPLY_H

#include "serve/module/http_exchange.h"

#include "base/buffer.h"
#include "rapt/base.h"

#include <jansson.h>

/* The whole response, and frees `body`. Reals have the fewest digits that read back as the same double. NULL, or out of memory
 * for its text: status 503, in the shape of its path. A 503 says when to try again. */
void reply_json(exchange *x, int status, json_t *body);

/* The text of an object with a gap to fill: for responses that are written bit by bit, because a tree of the whole would take
 * many times the memory of its text. Zeroed: none. */
typedef struct reply_frame {
    char *text;             /* NULL: out of memory */
    size_t before, after;   /* bytes before the gap; where the text after it begins */
} reply_frame;

/* Takes over an object; its only member `name` that is null becomes the gap. */
reply_frame reply_frame_new(json_t *object, const char *name);
bool reply_frame_open(const reply_frame *f, buffer *to);
/* Also frees it, even after a failure. */
bool reply_frame_close(reply_frame *f, buffer *to);
/* Appends the text of a value, and frees it. False: out of memory, or NULL. */
bool reply_put(buffer *to, json_t *value);
/* Appends words of JSON as they are; a text, valid UTF-8, as a string; a comma, unless it is the first of a list. */
bool reply_put_words(buffer *to, const char *words);
bool reply_put_string(buffer *to, const char *text, size_t size);
bool reply_put_comma(buffer *to, size_t before);
/* reply_json for a body that is text; `fine` false: memory ran out on the way, and it is freed. */
void reply_text(exchange *x, bool fine, buffer *body);

/* The HTTP status for a failure of the library while it worked for a request: 400 if the request is at fault, 503 if another try
 * may succeed. */
int reply_status(rapt_code code);

/* A float that reads back as the same one, with at most nine digits. NULL: out of memory. */
json_t *reply_real(rapt_real value);

#endif
