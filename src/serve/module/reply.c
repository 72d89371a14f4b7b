/* serve/module/reply.c: responses that are a JSON object. */
#include "serve/module/reply.h"

#include "serve/module/exchange_work.h"
#include "serve/module/refusal.h"

#include "base/number.h"
#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reply_json(exchange *x, int status, json_t *body)
{
    char *text = json_text(body, JSON_COMPACT);
    json_decref(body);
    if (status == 503 && text)
        exchange_add_header(x, "Retry-After", "1");
    if (text)
        exchange_reply_with(x, status, "application/json", text, strlen(text));
    else
        refusal_reply_later(x, 503, "overloaded", "out of memory for the response", 1);
}

reply_frame reply_frame_new(json_t *object, const char *name)
{
    char place[64];
    snprintf(place, sizeof place, "\"%s\":null", name); /* in a string the quotation marks would have a backslash */
    reply_frame f = {.text = json_text(object, JSON_COMPACT)};
    const char *at = f.text ? strstr(f.text, place) : NULL;
    json_decref(object);
    f.after = at ? (size_t)(at - f.text) + strlen(place) : 0;
    f.before = at ? f.after - strlen("null") : 0;
    return f;
}

void reply_frame_open(const reply_frame *f, reply_body *to)
{
    to->out.failed = to->out.failed || !f->text;
    buffer_put(&to->out, f->text, f->before);
}

void reply_frame_close(reply_frame *f, reply_body *to)
{
    reply_put_words(to, f->text ? f->text + f->after : "");
    free(f->text);
    *f = (reply_frame){0};
}

void reply_put(reply_body *to, json_t *value)
{
    char *text = json_text(value, JSON_COMPACT | JSON_ENCODE_ANY);
    to->out.failed = to->out.failed || !text;
    reply_put_words(to, text ? text : "");
    free(text);
    json_decref(value);
}

void reply_put_open(reply_body *to, json_t *object)
{
    reply_put(to, object);
    to->out.bytes.size -= !to->out.failed;
}

void reply_put_words(reply_body *to, const char *words)
{
    buffer_put(&to->out, words, strlen(words));
}

/* As jansson escapes them. */
void reply_put_string(reply_body *to, const char *text, size_t size)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs of a character and its letter */
    char escape[8];
    size_t done = 0;
    reply_put_words(to, "\"");
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        size_t k = 0;
        while (named[k] && named[k] != (char)c)
            k += 2;
        const int length = c && named[k] ? snprintf(escape, sizeof escape, "\\%c", named[k + 1])
                                         : snprintf(escape, sizeof escape, "\\u%04X", (unsigned)c);
        buffer_put(&to->out, text + done, i - done);
        buffer_put(&to->out, escape, (size_t)length);
        done = i + 1;
    }
    buffer_put(&to->out, text + done, size - done);
    reply_put_words(to, "\"");
}

bool reply_count(reply_body *to)
{
    const size_t size = to->out.bytes.size;
    to->out.failed = to->out.failed || !exchange_makes(to->x, REPLY_COPIES * (size - to->counted));
    to->counted = size;
    return !to->out.failed;
}

bool reply_list(reply_body *to, size_t i, size_t count)
{
    reply_put_words(to, i < count ? i ? "," : "[" : i ? "]" : "[]");
    return reply_count(to) && i < count;
}

void reply_text(reply_body *body)
{
    if (!body->out.failed)
        exchange_reply_with(body->x, 200, "application/json", body->out.bytes.data, body->out.bytes.size);
    else {
        buffer_free(&body->out.bytes);
        refusal_reply_later(body->x, 503, "overloaded", "out of memory for the response", 1);
    }
    body->out.bytes = (buffer){0};
}

int reply_status(rapt_code code)
{
    switch (code) {
    case RAPT_ERR_VALUE:
    case RAPT_ERR_FORMAT:
    case RAPT_ERR_SHAPE:
    case RAPT_ERR_NOT_FOUND: return 400;
    case RAPT_ERR_MEMORY:
    case RAPT_ERR_INTERRUPTED: return 503;
    default: return 500;
    }
}

json_t *reply_real(rapt_real value)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%.9g", (double)value);
    return json_real(number_read(text, NULL));
}
