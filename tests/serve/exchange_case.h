/* tests/serve/exchange_case.h: requests and their responses without a connection. To be included after cmocka.h. */
#ifndef TESTS_SERVE_EXCHANGE_CASE_H
#define TESTS_SERVE_EXCHANGE_CASE_H

#include "serve/module/http_exchange.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request with a body; `type` NULL: without a Content-Type. To be let go of with exchange_release. */
static inline exchange *case_request(const char *method, const char *target, const char *type, const char *body, size_t size)
{
    exchange *x = exchange_new(method, target, NULL, NULL);
    assert_non_null(x);
    assert_true(!type || exchange_set_header(x, "Content-Type", type));
    assert_true(exchange_add_body(x, body, size));
    return x;
}

static inline exchange *case_post(const char *target, const char *body)
{
    return case_request("POST", target, "application/json", body, strlen(body));
}

/* The whole body of a response, with a NUL; the caller frees it. Fails where its end does not come. */
static inline char *case_body(exchange *x)
{
    size_t capacity = 1 << 16, size = 0;
    char *body = malloc(capacity);
    bool end = false;
    for (;;) {
        assert_non_null(body);
        size_t got = exchange_take(x, body + size, capacity - size - 1, &end);
        size += got;
        if (got == 0)
            break;
        if (capacity - size < 1024)
            body = realloc(body, capacity *= 2);
    }
    assert_true(end);
    body[size] = '\0';
    return body;
}

/* The value of a header field of the response; NULL: there is none. */
static inline const char *case_header(exchange *x, const char *name)
{
    const char *got, *value;
    for (size_t i = 0; exchange_response_header(x, i, &got, &value); i++)
        if (strcmp(got, name) == 0)
            return value;
    return NULL;
}

static inline int case_status(exchange *x)
{
    const char *type;
    return exchange_status(x, &type);
}

/* The object that a response is; to be freed by json_decref. */
static inline json_t *case_object(exchange *x, int status)
{
    json_error_t where;
    char *body = case_body(x);
    if (case_status(x) != status)
        fail_msg("status %d, where %d is right: %s", case_status(x), status, body);
    json_t *object = json_loads(body, JSON_ALLOW_NUL, &where);
    if (!object)
        fail_msg("%s: %s", where.text, body);
    free(body);
    return object;
}

#endif
