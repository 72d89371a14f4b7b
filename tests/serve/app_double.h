/* tests/serve/app_double.h: what endpoints use of the server, without it: models that a test has put there, limits, and nothing
 * that counts. To be included by one source of a test, after cmocka.h. */
#ifndef TESTS_SERVE_APP_DOUBLE_H
#define TESTS_SERVE_APP_DOUBLE_H

#include "serve/module/app.h"

struct app {
    served_set set;
    app_limits limits;
    struct schema_cache *schemas; /* NULL: none are kept */
};

served_set *app_models(app *a)
{
    return served_hold(&a->set);
}

const app_limits *app_limits_of(const app *a)
{
    return &a->limits;
}

metrics *app_metrics(app *a)
{
    (void)a;
    return NULL;
}

struct schema_cache *app_schemas(app *a)
{
    return a->schemas;
}

size_t app_memory(app *a, size_t *largest)
{
    (void)a;
    return *largest = 0;
}

bool app_is_ready(app *a)
{
    (void)a;
    return true;
}

static atomic_size_t double_characters; /* that were translated */

void metrics_translated(metrics *m, size_t characters)
{
    (void)m;
    atomic_fetch_add(&double_characters, characters);
}

void metrics_first_token(metrics *m, const char *model, double seconds)
{
    (void)m;
    assert_true(*model && seconds >= 0);
}

void metrics_next_token(metrics *m, const char *model, double seconds)
{
    (void)m;
    assert_true(*model && seconds >= 0);
}

#endif
