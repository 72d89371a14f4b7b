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

/* The text of a response that is written bit by bit, because a tree of the whole would take many times its memory. A failure
 * stays, and reply_text tells of it: memory has run out, or exchange_makes refuses more of it. */
typedef struct reply_body {
    buffer_writer out;
    exchange *x;    /* set by the caller; the rest is zero at first */
    size_t counted; /* bytes that exchange_makes knows of */
} reply_body;

enum { REPLY_COPIES = 2 }; /* copies of a response's bytes while it is assembled */

/* The text of an object with a gap to fill. */
typedef struct reply_frame {
    char *text;             /* NULL: out of memory */
    size_t before, after;   /* bytes before the gap; where the text after it begins */
} reply_frame;

/* Takes over an object; its only member `name` that is null becomes the gap. */
reply_frame reply_frame_new(json_t *object, const char *name);
void reply_frame_open(const reply_frame *f, reply_body *to);
/* Also frees it, even after a failure. */
void reply_frame_close(reply_frame *f, reply_body *to);
/* Appends the text of a value, and frees it; NULL: out of memory. Without the closing brace: more members follow. */
void reply_put(reply_body *to, json_t *value);
void reply_put_open(reply_body *to, json_t *object);
/* Appends words of JSON as they are; a text, valid UTF-8, as a string. */
void reply_put_words(reply_body *to, const char *words);
void reply_put_string(reply_body *to, const char *text, size_t size);
/* Asks for the memory of what was written since it was last asked for. False: the body has failed. */
bool reply_count(reply_body *to);
/* The frame of a list: writes the bracket or the comma before item i of `count`, and the last bracket instead of item `count`;
 * then reply_count. False: there is no such item, or the body has failed. */
bool reply_list(reply_body *to, size_t i, size_t count);
/* Answers with it, or with status 503 if it has failed, and frees it. */
void reply_text(reply_body *body);

/* The HTTP status for a failure of the library while it worked for a request: 400 if the request is at fault, 503 if another try
 * may succeed. */
int reply_status(rapt_code code);

/* A float that reads back as the same one, with at most nine digits. NULL: out of memory. */
json_t *reply_real(rapt_real value);

#endif
