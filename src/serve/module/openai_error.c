/* serve/module/openai_error.c: errors as OpenAI's clients read them; see openai_error.h. */
#include "serve/module/openai_error.h"

#include "serve/module/reply.h"

const char *openai_error_type(int status)
{
    return status == 401 ? "authentication_error" : status == 403 ? "permission_error" : status == 429 ? "rate_limit_error"
         : status >= 500 ? "server_error" : "invalid_request_error";
}

json_t *openai_error_object(int status, const char *param, const char *code, const char *message)
{
    return json_pack("{s:{s:s, s:s, s:s?, s:s?}}", "error", "message", message, "type", openai_error_type(status), "param",
                     param && *param ? param : NULL, "code", code && *code ? code : NULL);
}

void openai_error(exchange *x, int status, const char *param, const char *code, const char *message)
{
    json_t *object = openai_error_object(status, param, code, message);
    if (object && (status == 429 || status == 503))
        exchange_add_header(x, "Retry-After", "1");
    reply_json(x, status, object);
}

void openai_refuse(exchange *x, const request_error *e)
{
    openai_error(x, e->status, e->param, e->code, e->message);
}
