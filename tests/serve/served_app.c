/* tests/serve/served_app.c: an `app` for tests. It replaces app.c. */
#define _GNU_SOURCE
#include "options.h"
#include "serve/served_app.h"

#include "serve/module/glossaries.h"
#include "serve/module/learn_page.h"
#include "serve/module/schema_cache.h"
#include "serve/module/served_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODELS = 8 };

struct app {
    app_limits limits;
    metrics *counted;
    schema_cache *schemas;
    glossaries *glossaries;
    rapt_engine *engine;
    served models[MAX_MODELS];
    served_set set;
    served_set_owner owner;
    bool drains;
    learn_page *lesson;
};

/* Its models last as long as the app. */
static void keep_models(void *context, served_set *set)
{
    (void)context, (void)set;
}

app *served_app_new(void)
{
    app *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (app){.limits = {.body = 1 << 20, .texts = 100, .n = 8, .explain = 32, .queue = 64},
               .counted = metrics_new(), .schemas = schema_cache_new(), .glossaries = glossaries_new(),
               .engine = rapt_engine_new(&ENGINE(.threads = 2), NULL)};
    a->owner.retire = keep_models;
    atomic_init(&a->owner.references, 1);
    a->set.models = a->models;
    a->set.owner = &a->owner;
    if (a->counted && a->schemas && a->glossaries && a->engine)
        return a;
    served_app_free(a);
    return NULL;
}

void served_app_free(app *a)
{
    for (size_t i = 0; i < a->set.count; i++) {
        rapt_engine_remove(a->models[i].model);
        free(a->models[i].name);
        free(a->models[i].path);
        free(a->models[i].source);
        free(a->models[i].target);
    }
    rapt_engine_free(a->engine);
    metrics_free(a->counted);
    schema_cache_free(a->schemas);
    glossaries_free(a->glossaries);
    learn_release(a->lesson);
    free(a);
}

app_limits *served_app_limits(app *a)
{
    return &a->limits;
}

void served_app_lesson(app *a, learn_page *p)
{
    learn_release(a->lesson);
    a->lesson = p;
}

void served_app_drain(app *a)
{
    a->drains = true;
}

bool served_app_add(app *a, const char *name, const char *source, const char *target, rapt_model *m, rapt_error *err)
{
    char path[64];
    served *s = &a->models[a->set.count];
    const rapt_task task = rapt_model_task(m);
    rapt_engine_model *model = a->set.count < MAX_MODELS ? rapt_engine_add(a->engine, m, NULL, err) : NULL;
    if (!model)
        return false;
    snprintf(path, sizeof path, "models/%.40s", name);
    *s = (served){.name = strdup(name), .path = strdup(path), .source = source ? strdup(source) : NULL,
                  .target = target ? strdup(target) : NULL, .task = task, .model = model,
                  .fingerprint = "0123456789abcdef", .number_format = "fp32", .created = 1, .options = ""};
    a->set.count++;
    return true;
}

/* ---- app.h -------------------------------------------------------------------------------------------------------------- */

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
    return a->counted;
}

learn_page *app_lesson(app *a)
{
    return learn_hold(a->lesson);
}

struct schema_cache *app_schemas(app *a)
{
    return a->schemas;
}

glossaries *app_glossaries(app *a)
{
    return a->glossaries;
}

size_t app_memory(app *a, size_t *largest)
{
    (void)a;
    return *largest = 0;
}

bool app_is_ready(app *a)
{
    return !a->drains;
}
