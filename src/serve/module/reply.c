/* serve/module/reply.c: responses that are a JSON object; see reply.h. */
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
