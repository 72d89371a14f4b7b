/* engine/engine.c: rapt_engine: the thread that computes, the models that it serves in turns, and the life of jobs. What a step of
 * a model is, its lane knows (lm_lane.c, translation_lane.c); calls of the caller's functions are in engine_call.c. */
#include "base/clock.h"
#include "base/pool.h"
#include "engine/engine_call.h"
#include "engine/engine_core.h"

#include <pthread.h>
#include <stdlib.h>

struct rapt_engine {
    pthread_t thread;
    int threads;               /* of computations */
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* there may be something to do; a job has ended */
    rapt_engine_model *models;
    atomic_bool ending;
};

/* ---- jobs ---------------------------------------------------------------------------------------------------------- */

void engine_queue_job(rapt_engine_model *m, rapt_engine_job *job, rapt_engine_job **handle)
{
    rapt_engine *e = m->engine;
    job->model = m;
    job->held = handle != NULL;
    job->queued = clock_seconds();
    if (handle)
        *handle = job;
    pthread_mutex_lock(&e->lock);
    m->unfreed++;
    engine_queue_put(engine_call_is(job) ? &m->calls : &m->jobs, job);
    pthread_cond_signal(&e->work);
    pthread_mutex_unlock(&e->lock);
}

static rapt_engine_job *engine_take_from(rapt_engine *e, engine_queue *q)
{
    pthread_mutex_lock(&e->lock);
    rapt_engine_job *job = engine_queue_pop(q);
    pthread_mutex_unlock(&e->lock);
    return job;
}

rapt_engine_job *engine_take(rapt_engine_model *m)
{
    return engine_take_from(m->engine, &m->jobs);
}

/* Under the lock. */
static bool engine_has_queued(const rapt_engine *e)
{
    bool any = false;
    for (const rapt_engine_model *m = e->models; m && !any; m = m->next)
        any = m->jobs.count + m->calls.count > 0;
    return any;
}

bool engine_is_awaited(rapt_engine_model *m)
{
    pthread_mutex_lock(&m->engine->lock);
    const bool any = engine_has_queued(m->engine);
    pthread_mutex_unlock(&m->engine->lock);
    return any;
}

bool engine_stops(rapt_engine_job *job)
{
    return atomic_load(&job->cancelled) || atomic_load(&job->model->engine->ending) || (job->stop && job->stop(job->context));
}

/* Under the lock: the last that the engine has to do with a job. */
static void engine_forget(rapt_engine *e, rapt_engine_model *m)
{
    m->unfreed--;
    if (m->unfreed == 0 && m->removed)
        pthread_cond_signal(&e->work);
}

void engine_job_done(rapt_engine_job *job, rapt_code code)
{
    rapt_engine_model *m = job->model;
    rapt_engine *e = m->engine;
    pthread_mutex_lock(&e->lock);
    uint64_t *count = !code ? &m->counts.done : code == RAPT_ERR_INTERRUPTED ? &m->counts.cancelled : &m->counts.failed;
    (*count)++;
    const bool held = job->held;
    job->done = true;
    if (!held)
        engine_forget(e, m);
    pthread_cond_broadcast(&e->done);
    pthread_mutex_unlock(&e->lock);
    if (!held)
        job->free(job);
}

void rapt_engine_cancel(rapt_engine_job *job)
{
    atomic_store(&job->cancelled, true);
}

void rapt_engine_job_free(rapt_engine_job *job)
{
    if (!job)
        return;
    rapt_engine *e = job->model->engine;
    pthread_mutex_lock(&e->lock);
    while (!job->done)
        pthread_cond_wait(&e->done, &e->lock);
    engine_forget(e, job->model);
    pthread_mutex_unlock(&e->lock);
    job->free(job);
}

void engine_publish(rapt_engine_model *m, const rapt_engine_counts *counts)
{
    pthread_mutex_lock(&m->engine->lock);
    const rapt_engine_counts old = m->counts;
    m->counts = *counts;
    m->counts.done = old.done;
    m->counts.cancelled = old.cancelled;
    m->counts.failed = old.failed;
    pthread_mutex_unlock(&m->engine->lock);
}

rapt_engine_counts rapt_engine_model_counts(const rapt_engine_model *m)
{
    pthread_mutex_lock(&m->engine->lock);
    rapt_engine_counts counts = m->counts;
    counts.waiting += m->jobs.count + m->calls.count;
    pthread_mutex_unlock(&m->engine->lock);
    return counts;
}

/* ---- models -------------------------------------------------------------------------------------------------------- */

static void engine_model_free(rapt_engine_model *m)
{
    if (m->of_lane)
        m->lane->free(m->of_lane);
    rapt_model_free(m->model);
    free(m);
}

static bool engine_make_lane(rapt_engine_model *m, const rapt_engine_model_options *o, rapt_error *err)
{
    const int threads = m->engine->threads;
    if (m->model->task == RAPT_TASK_ENCODER)
        return true;
    const bool language = m->model->task == RAPT_TASK_LANGUAGE_MODEL;
    m->lane = language ? &lm_lane_functions : &translation_lane_functions;
    m->of_lane = language ? lm_lane_new(m, o, threads, err) : translation_lane_new(m, o, threads, err);
    return m->of_lane != NULL;
}

rapt_engine_model *rapt_engine_add(rapt_engine *e, rapt_model *model, const rapt_engine_model_options *options, rapt_error *err)
{
    static const rapt_engine_model_options defaults = {0};
    rapt_engine_model *m = calloc(1, sizeof *m);
    if (!m) {
        rapt_model_free(model);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to serve a model");
        return NULL;
    }
    m->engine = e;
    m->model = model;
    if (!engine_make_lane(m, options ? options : &defaults, err)) {
        engine_model_free(m);
        return NULL;
    }
    pthread_mutex_lock(&e->lock);
    rapt_engine_model **last = &e->models;
    while (*last)
        last = &(*last)->next;
    *last = m;
    pthread_mutex_unlock(&e->lock);
    return m;
}

void rapt_engine_remove(rapt_engine *e, rapt_engine_model *m)
{
    pthread_mutex_lock(&e->lock);
    m->removed = true;
    pthread_cond_signal(&e->work);
    pthread_mutex_unlock(&e->lock);
}

const rapt_model *rapt_engine_model_of(const rapt_engine_model *m)
{
    return m->model;
}

/* Under the lock, which is released meanwhile: frees models that were removed and have no jobs left. */
static void engine_free_removed(rapt_engine *e)
{
    for (rapt_engine_model **at = &e->models; *at;) {
        rapt_engine_model *m = *at;
        if (!m->removed || m->unfreed > 0) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        pthread_mutex_unlock(&e->lock);
        engine_model_free(m);
        pthread_mutex_lock(&e->lock);
        at = &e->models; /* others may have been added */
    }
}

/* ---- the thread ---------------------------------------------------------------------------------------------------- */

/* Under the lock, which is released meanwhile: a step of each model. False: none had anything to do. */
static bool engine_step_all(rapt_engine *e)
{
    bool worked = false;
    for (rapt_engine_model *m = e->models; m; m = m->next) { /* models are only added at the end, and freed by this thread */
        pthread_mutex_unlock(&e->lock);
        rapt_engine_job *call = engine_take_from(e, &m->calls);
        if (call)
            engine_call_run(call, e->threads);
        const bool stepped = m->lane && m->lane->step(m, m->of_lane);
        worked = worked || call || stepped;
        pthread_mutex_lock(&e->lock);
    }
    return worked;
}

static void *engine_main(void *context)
{
    rapt_engine *e = context;
    pthread_mutex_lock(&e->lock);
    while (true) {
        const bool worked = engine_step_all(e);
        engine_free_removed(e);
        if (worked || engine_has_queued(e))
            continue;
        if (atomic_load(&e->ending))
            break;
        pthread_cond_wait(&e->work, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
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

rapt_engine *rapt_engine_new(const rapt_engine_options *options, rapt_error *err)
{
    rapt_engine *e = calloc(1, sizeof *e);
    if (!e) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an engine");
        return NULL;
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->work, NULL);
    pthread_cond_init(&e->done, NULL);
    e->threads = engine_count_threads(options ? options->threads : 0, err);
    if (e->threads > 0 && pthread_create(&e->thread, NULL, engine_main, e) == 0)
        return e;
    if (e->threads > 0)
        rapt_fail(err, RAPT_ERR_MEMORY, "the thread of an engine does not start");
    pthread_cond_destroy(&e->done);
    pthread_cond_destroy(&e->work);
    pthread_mutex_destroy(&e->lock);
    free(e);
    return NULL;
}

void rapt_engine_free(rapt_engine *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->ending, true);
    pthread_cond_signal(&e->work);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    while (e->models) {
        rapt_engine_model *m = e->models;
        e->models = m->next;
        engine_model_free(m);
    }
    pthread_cond_destroy(&e->done);
    pthread_cond_destroy(&e->work);
    pthread_mutex_destroy(&e->lock);
    free(e);
}
