/* engine/translation_lane.c: the lane of a translation model: continuous batching of sentences. Each thread has some sentences,
 * which began at different times, and computes their decoding steps together (segment_runs.c); finished ones leave, and others
 * take their place (translation_admit.c). */
#include "engine/translation_lane.h"

#include "base/clock.h"

#include <stdlib.h>

#define LARGEST_BATCH 65536
#define STEP_SECONDS 0.010 /* max length of a lane's step while other models wait; it may take one decoding step longer */
#define LONGEST_STEP_SECONDS 1.0
#define IDLE_SECONDS 0.001 /* that a thread waits for requests before it helps another one: clients answer in less */
#define CHECK_SECONDS 0.002 /* from one look for jobs that stop to the next */

/* ---- a thread's part ------------------------------------------------------------------------------------------------ */

/* Encodes the sentences that begin. */
static void translation_begin(translation_worker *w, rapt_tape *tape)
{
    const size_t count = w->item_count;
    w->item_count = 0;
    if (count > 0)
        segment_runs_begin(&w->runs, tape, w->items, count);
}

/* Computes one decoding step for all sentences of a worker. False: it has none. */
static bool translation_step(translation_worker *w, rapt_tape *tape)
{
    if (w->runs.count == 0)
        return false;
    const double start = clock_seconds();
    const segment_work work = segment_runs_step(&w->runs, tape);
    if (work.rows > 0)
        translation_pace_add(&w->pace, work.rows, clock_seconds() - start);
    w->tokens += work.segments;
    w->steps += work.segments > 0;
    return true;
}

/* ---- between decoding steps: under the lock ------------------------------------------------------------------------------ */

/* Counts a worker's work, and what it has left. */
static void translation_collect(translation_lane *l, translation_worker *w)
{
    w->sentences = w->item_count + w->runs.count;
    l->counts.steps += w->steps;
    l->counts.generated_tokens += w->tokens;
    w->steps = w->tokens = 0;
}

/* Those without a segment are over. */
static void translation_take_queued(translation_lane *l)
{
    rapt_engine_job *job;
    while ((job = engine_take(l->model))) {
        translation_job *j = (translation_job *)job;
        const size_t segments = j->text.source.count;
        j->text.ended = &l->ended;
        for (size_t i = 0; i < segments; i++)
            l->counts.prompt_tokens += j->text.source.segment[i].count;
        engine_queue_put(segments > 0 ? &l->waiting : &l->begun, job);
        if (segments == 0)
            atomic_store(&l->ended, true);
    }
}

/* Moves jobs of a list that are finished to `over`, and jobs whose items have all begun to the list of begun jobs. */
static void translation_sort_jobs(translation_lane *l, engine_queue *q, engine_queue *over)
{
    for (rapt_engine_job *before = NULL, *job = q->first; job; job = before ? before->next : q->first) {
        translation_job *j = (translation_job *)job;
        translation_job_check(j);
        const bool ends = atomic_load(&j->text.left) == 0;
        if (!ends && (q == &l->begun || translation_job_waiting(j) > 0)) {
            before = job;
            continue;
        }
        engine_queue_remove(q, before);
        engine_queue_put(ends ? over : &l->begun, job);
    }
}

/* Whether to look at all jobs: one is over, or it is time to ask whether they stop. */
static bool translation_is_due(translation_lane *l, double now)
{
    if (!atomic_exchange(&l->ended, false) && now < l->checked + CHECK_SECONDS)
        return false;
    l->checked = now;
    return true;
}

/* Removes finished jobs, takes queued jobs, and begins sentences; `only` as in translation_admit. */
static engine_queue translation_turn_over(translation_lane *l, translation_worker *only)
{
    engine_queue over = {0};
    translation_take_queued(l);
    if (translation_is_due(l, clock_seconds())) {
        translation_sort_jobs(l, &l->waiting, &over);
        translation_sort_jobs(l, &l->begun, &over);
    }
    translation_admit(l, only);
    l->counts.waiting = l->waiting.count;
    l->counts.running = l->begun.count;
    engine_publish(l->model, &l->counts); /* before on_done, so that it finds the job counted */
    return over;
}

/* Without the lock. */
static bool translation_end_jobs(engine_queue *over)
{
    rapt_engine_job *job;
    const bool any = over->first != NULL;
    while ((job = engine_queue_pop(over)))
        translation_job_end((translation_job *)job);
    return any;
}

/* ---- a lane's step ----------------------------------------------------------------------------------------------------- */

/* Whether the lane's step must end. */
static bool translation_is_enough(translation_lane *l)
{
    return atomic_load(&l->few) || clock_seconds() >= l->deadline || engine_is_awaited(l->model, false);
}

/* Called by a worker after each of its steps, so that no worker waits for another. False: it has nothing to do. */
static bool translation_refill(translation_lane *l, translation_worker *w)
{
    pthread_mutex_lock(&l->lock);
    translation_collect(l, w);
    engine_queue over = translation_turn_over(l, w);
    const double now = clock_seconds();
    const bool busy = w->sentences > 0, rest = l->waiting.count > 0;
    l->counts.busy_seconds += now - l->counted;
    l->counted = now;
    pthread_mutex_unlock(&l->lock);
    translation_end_jobs(&over);
    if (rest && atomic_load(&l->idle) > 0)
        engine_wake(l->model);
    return busy;
}

/* Whether all threads together compute the batches of the `busy` workers, as in rapt_translator_run. */
static bool translation_shares_threads(const translation_lane *l, int busy)
{
    return 2 * busy <= l->t->threads;
}

/* Waits until there is work. False: the lane's step is over. Does not wait if another model must have its turn. */
static bool translation_wait(translation_lane *l, translation_worker *w)
{
    const int idle = atomic_fetch_add(&l->idle, 1) + 1;
    bool busy = false;
    if (!l->alone && translation_shares_threads(l, l->t->threads - idle))
        atomic_store(&l->few, true);
    while (l->alone && !busy && !translation_is_enough(l)) {
        engine_wait(l->model, IDLE_SECONDS);
        busy = translation_refill(l, w);
        if (!busy && translation_shares_threads(l, l->t->threads - atomic_load(&l->idle)))
            atomic_store(&l->few, true);
    }
    atomic_fetch_sub(&l->idle, busy);
    return busy;
}

/* Whether a worker continues the lane's step. */
static bool translation_goes_on(translation_lane *l, translation_worker *w)
{
    return (translation_refill(l, w) || translation_wait(l, w)) && !translation_is_enough(l);
}

/* A pool_fn: each worker computes on its own tape. */
static void translation_advance(void *context, size_t worker, int thread)
{
    translation_lane *l = context;
    translation_worker *w = &l->workers[worker];
    rapt_tape *tape = l->t->tapes[worker];
    (void)thread;
    do {
        translation_begin(w, tape);
        translation_step(w, tape);
    } while (translation_goes_on(l, w));
}

/* Computes one worker after the other, each on all threads, until there are results, new requests, or other models that wait. */
static void translation_advance_alone(translation_lane *l)
{
    rapt_tape *tape = l->t->tapes[l->t->tape_count - 1];
    bool any = true;
    for (int i = 0; i < l->t->threads; i++)
        translation_begin(&l->workers[i], tape);
    while (any && !atomic_load(&l->ended) && clock_seconds() < l->deadline && !engine_is_awaited(l->model, true)) {
        any = false;
        for (int i = 0; i < l->t->threads; i++)
            any = translation_step(&l->workers[i], tape) || any;
    }
}

static int translation_busy(const translation_lane *l)
{
    int busy = 0;
    for (int i = 0; i < l->t->threads; i++)
        busy += l->workers[i].sentences > 0;
    return busy;
}

static void translation_compute(translation_lane *l)
{
    l->counted = clock_seconds();
    l->alone = engine_is_alone(l->model);
    l->deadline = l->counted + (l->alone ? LONGEST_STEP_SECONDS : STEP_SECONDS);
    atomic_store(&l->idle, 0);
    atomic_store(&l->few, false);
    if (translation_shares_threads(l, translation_busy(l)))
        translation_advance_alone(l);
    else
        pool_run(l->t->pool, (size_t)l->t->threads, SIZE_MAX, translation_advance, l);
    l->counts.busy_seconds += clock_seconds() - l->counted;
}

/* Between two lanes' steps only the engine's thread is here. */
static bool translation_lane_step(rapt_engine_model *m, void *lane)
{
    translation_lane *l = lane;
    (void)m;
    for (int i = 0; i < l->t->threads; i++)
        translation_collect(l, &l->workers[i]);
    engine_queue over = translation_turn_over(l, NULL);
    const bool ended = translation_end_jobs(&over), busy = translation_busy(l) > 0;
    if (busy)
        translation_compute(l);
    return busy || ended || atomic_load(&l->ended); /* out of memory, jobs end that never began */
}

/* ---- the lane ------------------------------------------------------------------------------------------------------- */

static void translation_lane_free(void *lane)
{
    translation_lane *l = lane;
    for (int i = 0; l->workers && i < l->t->threads; i++) {
        segment_runs_free(&l->workers[i].runs);
        free(l->workers[i].items);
    }
    rapt_translator_free(l->t);
    pthread_mutex_destroy(&l->lock);
    free(l->workers);
    free(l->picked);
    free(l);
}

const engine_lane translation_lane_functions = {translation_lane_step, translation_lane_free};

static rapt_code translation_lane_set_up(translation_lane *l, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    rapt_translate_options options = o->translate;
    options.threads = threads;
    options.precision = o->precision;
    options.weights = o->weights;
    options.kv_cache = o->kv_cache;
    options.batch = o->batch;
    if (o->batch > LARGEST_BATCH)
        return rapt_fail(err, RAPT_ERR_VALUE, "a batch of %zu sentences; the largest is %d", o->batch, LARGEST_BATCH);
    l->t = rapt_translator_new(l->model->model, &options, err);
    if (!l->t)
        return err->code;
    l->picked_max = 2 * l->t->setup.o.batch * (size_t)threads;
    l->workers = calloc((size_t)threads, sizeof *l->workers);
    l->picked = calloc(l->picked_max, sizeof *l->picked);
    for (int i = 0; l->workers && i < threads; i++)
        l->workers[i].runs.setup = &l->t->setup;
    return l->workers && l->picked ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
}

void *translation_lane_new(rapt_engine_model *m, const rapt_engine_model_options *o, int threads, rapt_error *err)
{
    rapt_error own = {0};
    translation_lane *l = calloc(1, sizeof *l);
    if (!l) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
        return NULL;
    }
    l->model = m;
    pthread_mutex_init(&l->lock, NULL);
    if (translation_lane_set_up(l, o, threads, &own) == RAPT_OK)
        return l;
    rapt_fail(err, own.code, "%s", own.message);
    translation_lane_free(l);
    return NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------------------- */

rapt_code rapt_engine_translate(rapt_engine_model *m, const rapt_engine_translation *request, rapt_engine_job **job,
                                rapt_error *err)
{
    rapt_error own = {0};
    if (engine_check_here(m->engine, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (m->lane != &translation_lane_functions)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s does not translate", m->lane ? "a language model" : "an encoder");
    rapt_code code = rapt_engine_check(m, &own);
    translation_job *j = code ? NULL : translation_job_new(((const translation_lane *)m->of_lane)->t, request, &own);
    if (!j)
        return rapt_fail(err, own.code, "%s", own.message);
    engine_queue_job(m, &j->job, job);
    return RAPT_OK;
}
