/* engine/engine_job.c: the life of jobs, from the queue until the last reference is dropped, and the counts of jobs. */
#include "base/clock.h"
#include "engine/engine_core.h"

void engine_queue_job(rapt_engine_model *m, rapt_engine_job *job, rapt_engine_job **handle)
{
    rapt_engine *e = m->engine;
    job->model = m;
    job->held = handle != NULL;
    job->queued = clock_seconds();
    if (handle)
        *handle = job;
    thread_lock(&e->lock);
    m->unfreed++;
    queue_put(job->is_call ? &m->calls : &m->jobs, job);
    thread_wake_one(&e->work);
    thread_unlock(&e->lock);
}

static rapt_engine_job *engine_take_from(rapt_engine *e, queue *q)
{
    thread_lock(&e->lock);
    rapt_engine_job *job = queue_pop(q);
    thread_unlock(&e->lock);
    return job;
}

rapt_engine_job *engine_take(rapt_engine_model *m)
{
    return engine_take_from(m->engine, &m->jobs);
}

rapt_engine_job *engine_take_call(rapt_engine_model *m)
{
    return engine_take_from(m->engine, &m->calls);
}

bool engine_has_queued(const rapt_engine *e)
{
    bool any = false;
    for (const rapt_engine_model *m = e->models; m && !any; m = m->next)
        any = m->jobs.count + m->calls.count > 0;
    return any;
}

bool engine_is_awaited(void *model, bool own)
{
    const rapt_engine_model *m = model;
    bool any = false;
    thread_lock(&m->engine->lock);
    for (const rapt_engine_model *other = m->engine->models; other && !any; other = other->next)
        any = other->calls.count > 0 || (other->jobs.count > 0 && (own || other != m));
    thread_unlock(&m->engine->lock);
    return any;
}

void engine_wait(void *model, double seconds)
{
    rapt_engine *e = ((const rapt_engine_model *)model)->engine;
    const double until = clock_seconds() + seconds;
    thread_lock(&e->lock);
    if (!engine_has_queued(e) && !atomic_load(&e->ending))
        thread_wait_until(&e->work, &e->lock, until);
    thread_unlock(&e->lock);
}

void engine_wake(void *model)
{
    thread_wake_all(&((const rapt_engine_model *)model)->engine->work);
}

bool engine_is_alone(void *model)
{
    const rapt_engine_model *m = model;
    thread_lock(&m->engine->lock);
    const bool alone = m->engine->models == m && !m->next;
    thread_unlock(&m->engine->lock);
    return alone;
}

rapt_code rapt_engine_check(const rapt_engine_model *m, rapt_error *err)
{
    const char *fault = m->faults.fault ? m->faults.fault(m->faults.fault_context) : NULL;
    return fault ? rapt_fail(err, RAPT_ERR_IO, "%s", fault) : RAPT_OK;
}

rapt_code engine_check_request(const rapt_engine_model *m, const engine_lane *lane, const char *what, rapt_error *err)
{
    const rapt_code code = engine_check_here(m->engine, err);
    if (!code && lane && m->lane != lane)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s does not %s", m->lane ? m->lane->kind : "an encoder", what);
    return code ? code : rapt_engine_check(m, err);
}

bool engine_stops(rapt_engine_job *job)
{
    return rapt_engine_check(job->model, NULL) || atomic_load(&job->cancelled) || atomic_load(&job->model->engine->ending) ||
           (job->stop && job->stop(job->context));
}

/* Under the lock: the last that the engine has to do with a job. */
static void engine_forget(rapt_engine *e, rapt_engine_model *m)
{
    m->unfreed--;
    if (m->unfreed == 0 && m->removed)
        thread_wake_one(&e->work);
}

void engine_job_ends(rapt_engine_job *job, rapt_code code)
{
    rapt_engine_model *m = job->model;
    thread_lock(&m->engine->lock);
    uint64_t *count = !code ? &m->counts.done : code == RAPT_ERR_INTERRUPTED ? &m->counts.cancelled : &m->counts.failed;
    (*count)++;
    thread_unlock(&m->engine->lock);
}

void engine_job_done(rapt_engine_job *job)
{
    rapt_engine_model *m = job->model;
    rapt_engine *e = m->engine;
    thread_lock(&e->lock);
    const bool held = job->held;
    job->done = true;
    if (!held)
        engine_forget(e, m);
    thread_wake_all(&e->done);
    thread_unlock(&e->lock);
    if (!held)
        job->free(job);
}

void rapt_engine_cancel(rapt_engine_job *job)
{
    atomic_store(&job->cancelled, true);
}

void rapt_engine_job_free(rapt_engine_job *job)
{
    if (!job || !engine_is_here(job->model->engine))
        return;
    rapt_engine *e = job->model->engine;
    thread_lock(&e->lock);
    while (!job->done)
        thread_wait(&e->done, &e->lock);
    engine_forget(e, job->model);
    thread_unlock(&e->lock);
    job->free(job);
}

void engine_publish(rapt_engine_model *m, const rapt_engine_counts *counts)
{
    thread_lock(&m->engine->lock);
    const rapt_engine_counts old = m->counts;
    m->counts = *counts;
    m->counts.done = old.done;
    m->counts.cancelled = old.cancelled;
    m->counts.failed = old.failed;
    thread_unlock(&m->engine->lock);
}

rapt_engine_counts rapt_engine_model_counts(const rapt_engine_model *m)
{
    if (!engine_is_here(m->engine))
        return (rapt_engine_counts){0};
    thread_lock(&m->engine->lock);
    rapt_engine_counts counts = m->counts;
    counts.waiting += m->jobs.count + m->calls.count;
    thread_unlock(&m->engine->lock);
    return counts;
}
