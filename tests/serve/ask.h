/* tests/serve/ask.h: requests without sockets, for tests of the functions that answer them: one is made, answered and read. To be
 * included after cmocka.h. */
#ifndef TESTS_SERVE_ASK_H
#define TESTS_SERVE_ASK_H

#include "serve/served_app.h"

#include "base/buffer.h"

#include <jansson.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { ASK_SECONDS = 60 };

/* A response. */
typedef struct answer {
    int status;
    char type[64];
    char replay[2048]; /* X-Rapt-Replay; "": none */
    buffer body;
    json_t *json;      /* of the body, where it is JSON; or NULL */
} answer;

/* Signals when a response has ended. */
typedef struct ask_end {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
} ask_end;

static inline void ask_ended(void *context)
{
    ask_end *e = context;
    pthread_mutex_lock(&e->lock);
    e->ended = true;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static inline void ask_wait(ask_end *e)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ASK_SECONDS;
    pthread_mutex_lock(&e->lock);
    while (!e->ended)
        if (pthread_cond_timedwait(&e->changed, &e->lock, &until) != 0)
            fail_msg("no response after %d s", ASK_SECONDS);
    pthread_mutex_unlock(&e->lock);
}

static inline void ask_read(exchange *x, answer *to)
{
    const char *name, *value, *type = "";
    char part[256];
    bool end = false;
    to->status = exchange_status(x, &type);
    snprintf(to->type, sizeof to->type, "%s", type);
    for (size_t i = 0; exchange_response_header(x, i, &name, &value); i++)
        if (strcmp(name, "X-Rapt-Replay") == 0)
            snprintf(to->replay, sizeof to->replay, "%s", value);
    assert_true(buffer_reserve(&to->body, 1));
    while (!end) {
        size_t got = exchange_take(x, part, sizeof part, &end);
        assert_true(got > 0 || end);
        assert_true(buffer_append(&to->body, part, got));
    }
    to->json = json_loadb(to->body.data, to->body.size, 0, NULL);
}

/* A request with a header field; `value` NULL: without it. */
static inline answer ask_field(app *a, app_route_fn *route, const char *method, const char *target, const char *name,
                               const char *value, const char *body)
{
    answer to = {0};
    ask_end end = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    exchange *x = exchange_new(method, target, NULL, NULL);
    assert_non_null(x);
    assert_true(!value || exchange_set_header(x, name, value));
    assert_true(exchange_add_body(x, body, strlen(body)));
    exchange_at_end(x, ask_ended, &end);
    route(a, x);
    ask_wait(&end);
    ask_read(x, &to);
    exchange_detach(x);
    exchange_release(x);
    return to;
}

/* `type` may be NULL: no Content-Type. */
static inline answer ask_with(app *a, app_route_fn *route, const char *method, const char *target, const char *type,
                              const char *body)
{
    return ask_field(a, route, method, target, "Content-Type", type, body);
}

static inline answer ask_post(app *a, app_route_fn *route, const char *json)
{
    return ask_with(a, route, "POST", "/", "application/json", json);
}

static inline answer ask_form(app *a, app_route_fn *route, const char *form)
{
    return ask_with(a, route, "POST", "/", "application/x-www-form-urlencoded", form);
}

static inline answer ask_get(app *a, app_route_fn *route, const char *target)
{
    return ask_with(a, route, "GET", target, NULL, "");
}

static inline void answer_free(answer *to)
{
    buffer_free(&to->body);
    json_decref(to->json);
    *to = (answer){0};
}

/* The text at a path of names and indices, with dots between: "translations.0.text". */
static inline const json_t *answer_at(const answer *to, const char *path)
{
    const json_t *at = to->json;
    char copy[128], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *part = strtok_r(copy, ".", &rest); part && at; part = strtok_r(NULL, ".", &rest))
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(part)) : json_object_get(at, part);
    if (!at)
        fail_msg("%s is not in %s", path, to->body.data);
    return at;
}

static inline const char *answer_text(const answer *to, const char *path)
{
    const char *text = json_string_value(answer_at(to, path));
    if (!text)
        fail_msg("%s of %s is no text", path, to->body.data);
    return text;
}

static inline void assert_status(const answer *to, int status)
{
    if (to->status != status)
        fail_msg("status %d where %d is expected: %s", to->status, status, to->body.data);
}

/* A request that is refused, with words of its message. */
typedef struct refusal {
    const char *body;
    int status;
    const char *words;
} refusal;

/* The message stands at `path` of the response; the request is a form where it does not begin with a brace. */
static inline void check_refusals(app *a, app_route_fn *route, const char *path, const refusal *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool json = strchr("{[\"", all[i].body[0]) || !strchr(all[i].body, '=');
        answer to = json ? ask_post(a, route, all[i].body) : ask_form(a, route, all[i].body);
        if (to.status != all[i].status || !strstr(answer_text(&to, path), all[i].words))
            fail_msg("%s: status %d where %d is expected, with \"%s\": %s", all[i].body, to.status, all[i].status, all[i].words,
                     to.body.data);
        answer_free(&to);
    }
}

#endif
