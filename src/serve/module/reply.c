/* serve/module/reply.c: responses that are a JSON object. */
#include "serve/module/reply.h"

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

bool reply_frame_open(const reply_frame *f, buffer *to)
{
    return f->text && buffer_append(to, f->text, f->before);
}

bool reply_frame_close(reply_frame *f, buffer *to)
{
    const bool fine = f->text && buffer_append(to, f->text + f->after, strlen(f->text + f->after));
    free(f->text);
    *f = (reply_frame){0};
    return fine;
}

bool reply_put(buffer *to, json_t *value)
{
    char *text = json_text(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const bool fine = text && buffer_append(to, text, strlen(text));
    free(text);
    json_decref(value);
    return fine;
}

bool reply_put_words(buffer *to, const char *words)
{
    return buffer_append(to, words, strlen(words));
}

/* As jansson escapes them. */
bool reply_put_string(buffer *to, const char *text, size_t size)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs of a character and its letter */
    char escape[8];
    bool fine = buffer_append(to, "\"", 1);
    size_t done = 0;
    for (size_t i = 0; i < size && fine; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        size_t k = 0;
        while (named[k] && named[k] != (char)c)
            k += 2;
        const int length = c && named[k] ? snprintf(escape, sizeof escape, "\\%c", named[k + 1])
                                         : snprintf(escape, sizeof escape, "\\u%04X", (unsigned)c);
        fine = buffer_append(to, text + done, i - done) && buffer_append(to, escape, (size_t)length);
        done = i + 1;
    }
    return fine && buffer_append(to, text + done, size - done) && buffer_append(to, "\"", 1);
}

bool reply_put_comma(buffer *to, size_t before)
{
    return before == 0 || buffer_append(to, ",", 1);
}

void reply_text(exchange *x, bool fine, buffer *body)
{
    if (fine)
        exchange_reply_with(x, 200, "application/json", body->data, body->size);
    else {
        buffer_free(body);
        refusal_reply_later(x, 503, "overloaded", "out of memory for the response", 1);
    }
    *body = (buffer){0};
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
