/* serve/module/refusal.c: messages and codes are constant texts, so they need no escapes. */
#include "serve/module/refusal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *refusal_type(int status)
{
    return status == 401 ? "authentication_error" : status == 403 ? "permission_error" : status == 429 ? "rate_limit_error"
         : status >= 500 ? "server_error" : "invalid_request_error";
}

void refusal_reply(exchange *x, int status, const char *code, const char *message)
{
    char body[512];
    const char *path = exchange_path(x);
    int size;
    if (strncmp(path, "/v1/", 4) == 0)
        size = snprintf(body, sizeof body,
                        "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":\"%s\"}}\n", message,
                        refusal_type(status), code);
    else if (strncmp(path, "/v2/", 4) == 0)
        size = snprintf(body, sizeof body, "{\"message\":\"%s\"}\n", message);
    else
        size = snprintf(body, sizeof body, "{\"error\":\"%s\"}\n", message);
    exchange_reply(x, status, "application/json", body, (size_t)size < sizeof body ? (size_t)size : sizeof body - 1);
}

void refusal_reply_later(exchange *x, int status, const char *code, const char *message, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f", fmax(1, ceil(seconds)));
    exchange_add_header(x, "Retry-After", text);
    snprintf(text, sizeof text, "%.0f", fmax(1, ceil(seconds * 1e3)));
    exchange_add_header(x, "retry-after-ms", text);
    refusal_reply(x, status, code, message);
}
