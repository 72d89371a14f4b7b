/* tests/serve/served_app.c: an `app` for tests; see served_app.h. It stands in for app.c and served.c. */
#define _GNU_SOURCE
#include "serve/served_app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_MODELS = 8 };

struct app {
    app_limits limits;
    metrics *counted;
    rapt_engine *engine;
    served models[MAX_MODELS];
    served_set set;
    bool drains;
};

app *served_app_new(void)
{
    app *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (app){.limits = {.body = 1 << 20, .texts = 100, .n = 8, .explain = 32, .queue = 64},
               .counted = metrics_new(), .engine = rapt_engine_new(&(rapt_engine_options){.threads = 2}, NULL)};
    a->set.models = a->models;
    if (a->counted && a->engine)
        return a;
    served_app_free(a);
    return NULL;
}

void served_app_free(app *a)
{
    for (size_t i = 0; i < a->set.count; i++) {
        rapt_engine_remove(a->engine, a->models[i].model);
        free(a->models[i].name);
        free(a->models[i].path);
        free(a->models[i].source);
        free(a->models[i].target);
    }
    rapt_engine_free(a->engine);
    metrics_free(a->counted);
    free(a);
}

app_limits *served_app_limits(app *a)
{
    return &a->limits;
}

void served_app_drain(app *a)
{
    a->drains = true;
}

bool served_app_add(app *a, const char *name, const char *source, const char *target, rapt_model *m, rapt_error *err)
{
    char path[64];
    served *s = &a->models[a->set.count];
    const rapt_task task = m->task;
    rapt_engine_model *model = a->set.count < MAX_MODELS ? rapt_engine_add(a->engine, m, NULL, err) : NULL;
    if (!model)
        return false;
    snprintf(path, sizeof path, "models/%.40s", name);
    *s = (served){.name = strdup(name), .path = strdup(path), .source = source ? strdup(source) : NULL,
                  .target = target ? strdup(target) : NULL, .task = task, .engine = a->engine, .model = model,
                  .fingerprint = "0123456789abcdef", .number_format = "fp32", .created = 1, .options = ""};
    a->set.count++;
    return true;
}

/* ---- app.h -------------------------------------------------------------------------------------------------------------- */

served_set *app_models(app *a)
{
    return &a->set;
}

const app_limits *app_limits_of(const app *a)
{
    return &a->limits;
}

metrics *app_metrics(app *a)
{
    return a->counted;
}

bool app_is_ready(app *a)
{
    return !a->drains;
}

/* ---- served.h ----------------------------------------------------------------------------------------------------------- */

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

/* With `whole` codes are equal but for case, else their first parts are. */
static bool code_fits(const char *known, const char *asked, bool whole)
{
    if (!known)
        return false;
    if (whole)
        return strcasecmp(known, asked) == 0;
    size_t size = strcspn(known, "-_");
    return strcspn(asked, "-_") == size && strncasecmp(known, asked, size) == 0;
}

const served *served_pair(const served_set *set, const char *source, const char *target)
{
    const bool any = !source || strcasecmp(source, "auto") == 0;
    for (int loose = 0; loose < 2; loose++)
        for (size_t i = 0; i < set->count; i++) {
            const served *s = &set->models[i];
            if (s->task == RAPT_TASK_TRANSLATION && code_fits(s->target, target, !loose) &&
                (any || code_fits(s->source, source, !loose)))
                return s;
        }
    return NULL;
}

served_set *served_hold(served_set *set)
{
    return set;
}

void served_release(served_set *set)
{
    (void)set;
}
