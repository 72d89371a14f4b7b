/* serve/module/app.c: the state that requests share changes while they run: a reload replaces models and keys, and the number of
 * requests varies. */
#include "serve/module/app.h"

#include "base/clock.h"
#include "base/memory.h"
#include "serve/module/admission.h"
#include "serve/module/glossaries.h"
#include "serve/module/keys.h"
#include "serve/module/learn_page.h"
#include "serve/module/schema_cache.h"
#include "serve/module/serve_log.h"
#include "serve/module/served_load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_SHARE 0.1 /* weight of the newest interval in the moving average of the time between two ends of requests */

struct app {
    const serve_options *o;
    app_limits limits;
    site_reach reach;
    rapt_engine *engine;
    metrics *metrics;
    void (*wake)(void *context);
    void *context;
    atomic_bool drains, trims; /* no more requests are accepted; app_sweep must trim */
    atomic_size_t running; /* requests */
    admission admission;
    schema_cache *schemas;
    glossaries *glossaries;
    pthread_mutex_t lock; /* guards everything below */
    served_set *models;
    keys *keys; /* NULL: no key is required */
    learn_page *lesson; /* NULL: there is none */
    served_set_owner *retired;
    double last_end, interval; /* seconds: when a request ended, and between two ends, on average */
};

const app_limits *app_limits_of(const app *a)
{
    return &a->limits;
}

metrics *app_metrics(app *a)
{
    return a->metrics;
}

schema_cache *app_schemas(app *a)
{
    return a->schemas;
}

glossaries *app_glossaries(app *a)
{
    return a->glossaries;
}

size_t app_memory(app *a, size_t *largest)
{
    return admission_given(&a->admission, largest);
}

bool app_is_ready(app *a)
{
    return !atomic_load(&a->drains);
}

void app_drain(app *a)
{
    atomic_store(&a->drains, true);
}

served_set *app_models(app *a)
{
    pthread_mutex_lock(&a->lock);
    served_set *set = served_hold(a->models);
    pthread_mutex_unlock(&a->lock);
    return set;
}

learn_page *app_lesson(app *a)
{
    pthread_mutex_lock(&a->lock);
    learn_page *p = learn_hold(a->lesson);
    pthread_mutex_unlock(&a->lock);
    return p;
}

bool app_key_ok(app *a, exchange *x, const char *key)
{
    pthread_mutex_lock(&a->lock);
    const char *owner = a->keys ? keys_owner(a->keys, key) : "";
    if (owner)
        exchange_note_owner(x, owner);
    pthread_mutex_unlock(&a->lock);
    return owner;
}

void app_set_reach(app *a, site_reach reach)
{
    a->reach = reach;
}

bool app_has_host(app *a, const char *host)
{
    pthread_mutex_lock(&a->lock);
    const bool keyed = a->keys != NULL;
    pthread_mutex_unlock(&a->lock);
    return !host || keyed || site_has_host(a->reach, host, a->o->hosts.at, a->o->hosts.count);
}

bool app_allows_origin(const app *a, const char *origin)
{
    for (size_t i = 0; i < a->o->cors.count; i++)
        if (strcmp(a->o->cors.at[i], "*") == 0 || strcmp(a->o->cors.at[i], origin) == 0)
            return true;
    return false;
}

/* ---- how many requests ------------------------------------------------------------------------------------------- */

static void leave_app(void *context)
{
    app *a = context;
    const double now = clock_seconds();
    pthread_mutex_lock(&a->lock);
    if (a->last_end > 0)
        a->interval += INTERVAL_SHARE * (now - a->last_end - a->interval);
    a->last_end = now;
    pthread_mutex_unlock(&a->lock);
    atomic_fetch_sub(&a->running, 1);
    if (admission_trims(&a->admission) && !atomic_exchange(&a->trims, true))
        a->wake(a->context);
}

/* The request is counted before its body is read, so that the bound holds for requests that come at the same time. */
const char *app_enter(app *a, exchange *x, double *seconds)
{
    const bool drains = atomic_load(&a->drains), full = atomic_fetch_add(&a->running, 1) >= a->limits.queue;
    if (!drains && !full) {
        exchange_at_free(x, leave_app, a, &a->admission);
        return NULL;
    }
    atomic_fetch_sub(&a->running, 1);
    pthread_mutex_lock(&a->lock);
    *seconds = drains ? 1 : a->interval;
    pthread_mutex_unlock(&a->lock);
    return drains ? "the server is shutting down" : "the queue of requests is full";
}

/* ---- models and keys --------------------------------------------------------------------------------------------- */

static void retire_models(void *context, served_set *set)
{
    app *a = context;
    pthread_mutex_lock(&a->lock);
    set->owner->next = a->retired;
    a->retired = set->owner;
    pthread_mutex_unlock(&a->lock);
    a->wake(a->context);
}

static void warn_of_model(void *context, const char *message)
{
    serve_log_event(((const app *)context)->o->log, LOG_WARNING, "%s", message);
}

static void tell_damage(void *context, const char *message)
{
    serve_log_event(((const app *)context)->o->log, LOG_ERROR, "%s; put it in place and send SIGHUP", message);
}

static void free_retired(app *a, bool engine_is_gone)
{
    pthread_mutex_lock(&a->lock);
    served_set_owner *owner = a->retired;
    a->retired = NULL;
    pthread_mutex_unlock(&a->lock);
    while (owner) {
        served_set_owner *next = owner->next;
        served_free(&owner->set, engine_is_gone);
        owner = next;
    }
}

void app_sweep(app *a)
{
    if (atomic_exchange(&a->trims, false))
        memory_trim();
    free_retired(a, false);
}

/* A file that nobody has named keeps no server from its start. */
static learn_page *load_lesson(const app *a, rapt_error *err)
{
    rapt_error own = {0};
    learn_page *p;
    if (learn_read(a->o->lesson, &p, &own) && a->o->lesson)
        rapt_fail(err, own.code, "%s", own.message);
    else if (own.code)
        serve_log_event(a->o->log, LOG_WARNING, "no lesson at /learn: %s", own.message);
    return p;
}

rapt_code app_reload(app *a, rapt_error *err)
{
    rapt_error own = {0};
    keys *new_keys = a->o->api_key_file ? keys_read(a->o->api_key_file, &own) : NULL;
    const served_events events = {retire_models, warn_of_model, tell_damage, a};
    learn_page *new_lesson = own.code ? NULL : load_lesson(a, &own);
    served_set *new_models = own.code ? NULL : served_load(a->o, a->engine, &events, &own);
    if (!new_models) {
        keys_free(new_keys);
        learn_release(new_lesson);
        return rapt_fail(err, own.code, "%s", own.message);
    }
    pthread_mutex_lock(&a->lock);
    served_set *old_models = a->models;
    keys *old_keys = a->keys;
    learn_page *old_lesson = a->lesson;
    a->models = new_models;
    a->keys = new_keys;
    a->lesson = new_lesson;
    pthread_mutex_unlock(&a->lock);
    keys_free(old_keys);
    learn_release(old_lesson);
    served_release(old_models);
    return RAPT_OK;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

app *app_new(const serve_options *o, void (*wake)(void *context), void *context, rapt_error *err)
{
    rapt_engine_options engine = rapt_engine_options_default();
    engine.threads = (int)o->threads;
    app *a = calloc(1, sizeof *a);
    if (!a) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        return NULL;
    }
    a->o = o;
    a->wake = wake;
    a->context = context;
    a->reach = SITE_LOOPBACK;
    a->limits = (app_limits){.body = o->body, .texts = o->texts, .max_tokens = o->max_tokens, .n = o->n,
                             .explain = o->no_explain ? 0 : o->explain, .queue = o->queue,
                             .memory = o->request_memory};
    admission_init(&a->admission, o->request_memory);
    pthread_mutex_init(&a->lock, NULL);
    if (!(a->metrics = metrics_new()) || !(a->schemas = schema_cache_new()) ||
        !(a->glossaries = glossaries_new()))
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    else if ((a->engine = rapt_engine_new(&engine, err)) && app_reload(a, err) == RAPT_OK)
        return a;
    app_free(a);
    return NULL;
}

void app_free(app *a)
{
    if (!a)
        return;
    served_release(a->models);
    rapt_engine_free(a->engine); /* requests that it cancels let go of their models */
    free_retired(a, a->engine != NULL);
    metrics_free(a->metrics);
    schema_cache_free(a->schemas);
    glossaries_free(a->glossaries);
    keys_free(a->keys);
    learn_release(a->lesson);
    pthread_mutex_destroy(&a->lock);
    admission_destroy(&a->admission);
    free(a);
}
