/* serve/module/openai_error.c: errors as OpenAI's clients read them. */
#include "serve/module/openai_error.h"

#include "serve/module/refusal.h"
#include "serve/module/reply.h"

json_t *openai_error_object(int status, const char *param, const char *code, const char *message)
{
    return json_pack("{s:{s:s, s:s, s:s?, s:s?}}", "error", "message", message, "type", refusal_type(status), "param",
                     param && *param ? param : NULL, "code", code && *code ? code : NULL);
}

void openai_error(exchange *x, int status, const char *param, const char *code, const char *message)
{
    json_t *object = openai_error_object(status, param, code, message);
    reply_json(x, status, object);
}

void openai_refuse(exchange *x, const request_error *e)
{
    openai_error(x, e->status, e->param, e->code, e->message);
}
