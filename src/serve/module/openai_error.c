/* serve/module/openai_error.c: errors as OpenAI's clients read them; see openai_error.h. */
#include "serve/module/openai_error.h"

#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

static const char JSON_TYPE[] = "application/json";
static const char NO_MEMORY[] = "{\"error\":{\"message\":\"out of memory\",\"type\":\"server_error\",\"param\":null,"
                                "\"code\":null}}";

static const char *error_type(int status)
{
    return status == 401 ? "authentication_error" : status == 403 ? "permission_error" : status == 429 ? "rate_limit_error"
         : status >= 500 ? "server_error" : "invalid_request_error";
}

json_t *openai_error_object(int status, const char *param, const char *code, const char *message)
{
    return json_pack("{s:{s:s, s:s, s:s?, s:s?}}", "error", "message", message, "type", error_type(status), "param",
                     param && *param ? param : NULL, "code", code && *code ? code : NULL);
}

static void send_object(exchange *x, int status, json_t *object)
{
    char *text = json_text(object, JSON_COMPACT);
    json_decref(object);
    if (!text)
        exchange_add_header(x, "Retry-After", "1");
    if (text)
        exchange_reply_with(x, status, JSON_TYPE, text, strlen(text));
    else
        exchange_reply(x, 503, JSON_TYPE, NO_MEMORY, sizeof NO_MEMORY - 1);
}

void openai_error(exchange *x, int status, const char *param, const char *code, const char *message)
{
    json_t *object = openai_error_object(status, param, code, message);
    if (object && (status == 429 || status == 503))
        exchange_add_header(x, "Retry-After", "1");
    send_object(x, status, object);
}

void openai_refuse(exchange *x, const request_error *e)
{
    openai_error(x, e->status, e->param, e->code, e->message);
}

void openai_reply(exchange *x, json_t *object)
{
    send_object(x, 200, object);
}
