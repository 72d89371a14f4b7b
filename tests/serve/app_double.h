/* tests/serve/app_double.h: what endpoints use of the server, without it: models that a test has put there, limits, and nothing
 * that counts. To be included by one source of a test, after cmocka.h. */
#ifndef TESTS_SERVE_APP_DOUBLE_H
#define TESTS_SERVE_APP_DOUBLE_H

#include "serve/module/app.h"

#include <stdatomic.h>
#include <string.h>

struct app {
    served_set set;
    app_limits limits;
};

static atomic_int double_references; /* to the set */

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

served_set *served_hold(served_set *set)
{
    double_references++;
    return set;
}

void served_release(served_set *set)
{
    (void)set;
    double_references--;
}

const served *served_pair(const served_set *set, const char *source, const char *target)
{
    (void)set, (void)source, (void)target;
    return NULL;
}

const served *served_named(const served_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->models[i].name, name) == 0)
            return &set->models[i];
    return NULL;
}

const served *served_first(const served_set *set, rapt_task task)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->models[i].task == task)
            return &set->models[i];
    return NULL;
}

#endif
