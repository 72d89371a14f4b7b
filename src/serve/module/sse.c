/* serve/module/sse.c: an event is one write, so that none is sent in part. */
#include "serve/module/sse.h"

#include "base/buffer.h"
#include "text/json_text.h"

void sse_begin(exchange *x)
{
    exchange_add_header(x, "Cache-Control", "no-cache");
    exchange_add_header(x, "X-Accel-Buffering", "no"); /* nginx would collect events */
    exchange_begin(x, 200, "text/event-stream");
}

bool sse_send_named(exchange *x, const char *name, json_t *object)
{
    buffer b = {0};
    char *text = json_text(object, JSON_COMPACT);
    bool fine = !name || (buffer_append(&b, "event: ", 7) && buffer_append(&b, name, strlen(name)) &&
                          buffer_append(&b, "\n", 1));
    fine = fine && text && buffer_append(&b, "data: ", 6) && buffer_append(&b, text, strlen(text)) &&
           buffer_append(&b, "\n\n", 2);
    fine = fine && exchange_write(x, b.data, b.size);
    buffer_free(&b);
    free(text);
    json_decref(object);
    return fine;
}

bool sse_send(exchange *x, json_t *object)
{
    return sse_send_named(x, NULL, object);
}

void sse_end(exchange *x, bool complete)
{
    static const char done[] = "data: [DONE]\n\n";
    if (complete)
        exchange_write(x, done, sizeof done - 1);
    exchange_end(x);
}
