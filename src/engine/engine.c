/* engine/engine.c: rapt_engine: the thread that computes, and the models that it serves in turns. The lane of a model computes
 * its steps (lm_lane.c, translation_job.c); engine_job.c has the life of jobs, engine_call.c the calls of a caller's
 * functions. */
#include "base/pool.h"
#include "base/process.h"
#include "base/sized.h"
#include "engine/engine_call.h"
#include "engine/engine_core.h"
#include "engine/engine_defaults.h"
#include "io/model_core.h"

#include <stdlib.h>

/* ---- models -------------------------------------------------------------------------------------------------------- */

static void engine_free_taken(rapt_model *model, const rapt_engine_model_options *o)
{
    if (o->fault_free)
        o->fault_free(o->fault_context);
    if (!o->borrowed)
        rapt_model_free(model);
}

static void engine_model_free(rapt_engine_model *m)
{
    if (m->of_lane)
        m->lane->free(m->of_lane);
    rapt_embedder_free(m->embedder);
    rapt_reranker_free(m->reranker);
    engine_free_taken(m->model, &m->faults);
    free(m);
}

static bool engine_make_lane(rapt_engine_model *m, const rapt_engine_model_options *o, rapt_error *err)
{
    const int threads = m->engine->threads;
    if (m->model->task == RAPT_TASK_ENCODER) {
        rapt_embedder_options options = rapt_embedder_options_default();
        options.compute = o->compute;
        options.compute.threads = threads;
        m->embedder = rapt_embedder_new(m->model, &options, err);
        return m->embedder != NULL;
    }
    if (m->model->task == RAPT_TASK_CROSS_ENCODER) {
        rapt_reranker_options options = rapt_reranker_options_default();
        options.compute = o->compute;
        options.compute.threads = threads;
        m->reranker = rapt_reranker_new(m->model, &options, err);
        return m->reranker != NULL;
    }
    const bool language = m->model->task == RAPT_TASK_LANGUAGE_MODEL;
    m->lane = language ? &lm_lane_functions : &translation_functions;
    m->of_lane = language ? lm_lane_new(m, o, threads, err) : translations_new(m, o, threads, err);
    return m->of_lane != NULL;
}

SIZED_ENDS_WITH(rapt_engine_model_options, fault_context);

void rapt_engine_model_options_init(rapt_engine_model_options *o, size_t size)
{
    sized_init(o, size, &(rapt_engine_model_options){ENGINE_MODEL_DEFAULTS}, sizeof *o);
}

/* What is wrong for a model of any task. */
static rapt_code engine_check_model_options(const rapt_engine_model_options *o, rapt_error *err)
{
    const char *const unknown = SIZED_AS_MODEL(o->slots) ? "slots" : SIZED_AS_MODEL(o->kv_memory) ? "kv_memory"
                                : SIZED_AS_MODEL(o->chunk) ? "chunk" : SIZED_AS_MODEL(o->batch) ? "batch" : NULL;
    if (unknown)
        return sized_refuse_as_model(unknown, err);
    if (o->slots == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "0 slots: a model needs one");
    return o->batch ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "a batch of 0 sentences: it is 1 or more");
}

rapt_engine_model *rapt_engine_add(rapt_engine *e, rapt_model *model, const rapt_engine_model_options *options, rapt_error *err)
{
    rapt_engine_model_options own = rapt_engine_model_options_default(), *o = &own;
    if (sized_take(&own, options, NULL, 0, "engine_model_options", err) != RAPT_OK) {
        engine_free_taken(model, options); /* its size alone is refused: the function that frees is there */
        return NULL;
    }
    if (engine_check_model_options(o, err) != RAPT_OK || engine_check_here(e, err) != RAPT_OK) {
        engine_free_taken(model, o);
        return NULL;
    }
    rapt_engine_model *m = calloc(1, sizeof *m);
    if (!m) {
        engine_free_taken(model, o);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to serve a model");
        return NULL;
    }
    m->engine = e;
    m->model = model;
    m->faults = (rapt_engine_model_options){.fault = o->fault, .fault_free = o->fault_free, .fault_context = o->fault_context,
                                            .borrowed = o->borrowed};
    if (!engine_make_lane(m, o, err)) {
        engine_model_free(m);
        return NULL;
    }
    thread_lock(&e->lock);
    rapt_engine_model **last = &e->models;
    while (*last)
        last = &(*last)->next;
    *last = m;
    thread_unlock(&e->lock);
    return m;
}

void rapt_engine_remove(rapt_engine_model *m)
{
    if (!engine_is_here(m->engine))
        return;
    thread_lock(&m->engine->lock);
    m->removed = true;
    thread_wake_one(&m->engine->work);
    thread_unlock(&m->engine->lock);
}

const rapt_model *rapt_engine_model_of(const rapt_engine_model *m)
{
    return m->model;
}

rapt_embedder *rapt_engine_embedder(const rapt_engine_model *m)
{
    return m->embedder;
}

rapt_reranker *rapt_engine_reranker(const rapt_engine_model *m)
{
    return m->reranker;
}

/* Called with the lock held, which is released meanwhile: frees models that were removed and have no jobs left. */
static void engine_free_removed(rapt_engine *e)
{
    for (rapt_engine_model **at = &e->models; *at;) {
        rapt_engine_model *m = *at;
        if (!m->removed || m->unfreed > 0) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        thread_unlock(&e->lock);
        engine_model_free(m);
        thread_lock(&e->lock);
        at = &e->models; /* models may have been added meanwhile */
    }
}

/* ---- the thread ---------------------------------------------------------------------------------------------------- */

/* Called with the lock held, which is released meanwhile: computes a step of each model. False: no model had anything to do. */
static bool engine_step_all(rapt_engine *e)
{
    bool worked = false;
    for (rapt_engine_model *m = e->models; m; m = m->next) { /* models are only added at the end, and freed by this thread */
        thread_unlock(&e->lock);
        rapt_engine_job *call = engine_take_call(m);
        if (call)
            engine_call_run(call, e->threads);
        const bool stepped = m->lane && m->lane->step(m, m->of_lane);
        worked = worked || call || stepped;
        thread_lock(&e->lock);
    }
    return worked;
}

static void *engine_main(void *context)
{
    rapt_engine *e = context;
    thread_lock(&e->lock);
    while (true) {
        const bool worked = engine_step_all(e);
        engine_free_removed(e);
        if (worked || engine_has_queued(e))
            continue;
        if (atomic_load(&e->ending))
            break;
        thread_wait(&e->work, &e->lock);
    }
    thread_unlock(&e->lock);
    return NULL;
}

/* The number of threads that a pool would have. */
static int engine_count_threads(int threads, rapt_error *err)
{
    pool *p = pool_new(threads, err);
    int count = p ? pool_threads(p) : 0;
    pool_free(p);
    return count;
}

SIZED_ENDS_WITH(rapt_engine_options, reserved);

void rapt_engine_options_init(rapt_engine_options *o, size_t size)
{
    sized_init(o, size, &(rapt_engine_options){ENGINE_DEFAULTS}, sizeof *o);
}

rapt_engine *rapt_engine_new(const rapt_engine_options *options, rapt_error *err)
{
    rapt_engine_options o = rapt_engine_options_default();
    if (sized_take(&o, options, o.reserved, sizeof o.reserved, "engine_options", err) != RAPT_OK)
        return NULL;
    rapt_engine *e = calloc(1, sizeof *e);
    if (!e) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an engine");
        return NULL;
    }
    thread_mutex_init(&e->lock);
    thread_condition_init(&e->work);
    thread_condition_init(&e->done);
    e->owner = process_id();
    e->threads = engine_count_threads(o.threads, err);
    if (e->threads > 0 && thread_start(&e->thread, engine_main, e))
        return e;
    if (e->threads > 0)
        rapt_fail(err, RAPT_ERR_MEMORY, "the thread of an engine does not start");
    thread_condition_free(&e->done);
    thread_condition_free(&e->work);
    thread_mutex_free(&e->lock);
    free(e);
    return NULL;
}

void rapt_engine_free(rapt_engine *e)
{
    if (!e || !engine_is_here(e))
        return;
    thread_lock(&e->lock);
    atomic_store(&e->ending, true);
    thread_wake_one(&e->work);
    thread_unlock(&e->lock);
    thread_join(e->thread);
    while (e->models) {
        rapt_engine_model *m = e->models;
        e->models = m->next;
        engine_model_free(m);
    }
    thread_condition_free(&e->done);
    thread_condition_free(&e->work);
    thread_mutex_free(&e->lock);
    free(e);
}
