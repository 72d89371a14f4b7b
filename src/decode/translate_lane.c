/* decode/translate_lane.c: the segments of all texts that a translator has in progress: continuous batching. Each thread has some
 * segments, which began at different times, and computes their decoding steps together (segment_runs.c); finished ones leave, and
 * others take their place (translate_admit.c). */
#include "decode/translate.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

#define STEP_SECONDS 0.010 /* max length of a lane's step while others wait; it may take one decoding step longer */
#define LONGEST_STEP_SECONDS 1.0
#define IDLE_SECONDS 0.001 /* that a thread waits for texts before it helps another one: clients answer in less */
#define CHECK_SECONDS 0.002 /* from one look for cancelled texts to the next */

/* ---- a thread's part ------------------------------------------------------------------------------------------------ */

/* Encodes the segments that begin. */
static void worker_begin(translate_worker *w, rapt_tape *tape)
{
    const size_t count = w->item_count;
    w->item_count = 0;
    if (count > 0)
        segment_runs_begin(&w->runs, tape, w->items, count);
}

/* Computes one decoding step for all segments of a worker. False: it has none. */
static bool worker_step(translate_worker *w, rapt_tape *tape)
{
    if (w->runs.count == 0)
        return false;
    const double start = clock_seconds();
    const segment_work work = segment_runs_step(&w->runs, tape);
    if (work.rows > 0)
        translate_pace_add(&w->pace, work.rows, clock_seconds() - start);
    w->tokens += work.segments;
    w->steps += work.segments > 0;
    return true;
}

/* ---- between decoding steps: under the lock ------------------------------------------------------------------------------ */

/* Counts a worker's work, and what it has left. */
static void lane_collect(translate_lane *l, translate_worker *w)
{
    w->segments = w->item_count + w->runs.count;
    l->counts.steps += w->steps;
    l->counts.tokens += w->tokens;
    w->steps = w->tokens = 0;
}

/* A text without a segment is over. */
void translate_lane_add(rapt_translator *t, translate_text *x)
{
    translate_lane *l = &t->lane;
    const size_t segments = x->source.count;
    x->ended = &l->ended;
    for (size_t i = 0; i < segments; i++)
        l->counts.source_tokens += x->source.segment[i].count;
    queue_put(segments > 0 ? &l->waiting : &l->begun, x);
    if (segments == 0)
        atomic_store(&l->ended, true);
}

/* What the two sweeps ask. */
static bool lane_text_has_begun(void *text)
{
    translate_text_check(text);
    return translate_text_waiting(text) == 0;
}

static bool lane_text_is_over(void *text)
{
    return atomic_load(&((translate_text *)text)->left) == 0;
}

/* Ends what is cancelled of the waiting texts, and moves finished texts to `over`: these wait no more, so they have begun. */
static void lane_end_stopped(translate_lane *l, double now, queue *over)
{
    if (now >= l->checked + CHECK_SECONDS) {
        l->checked = now;
        queue_sweep(&l->waiting, QUEUE_ASKED, lane_text_has_begun, &l->begun); /* calls functions of those who wait */
    }
    if (atomic_exchange(&l->ended, false))
        queue_sweep(&l->begun, SIZE_MAX, lane_text_is_over, over); /* looks only */
}

/* Removes finished texts, takes queued ones, and begins segments; `only` as in translate_admit. Without a host nobody waits for a
 * place: a worker then begins a whole batch at once, whose segments are of one length, and fills it again when it is empty, which
 * is a little faster. */
static queue lane_turn_over(rapt_translator *t, translate_worker *only)
{
    translate_lane *l = &t->lane;
    queue over = {0};
    if (l->host)
        l->host->take(l->context);
    lane_end_stopped(l, clock_seconds(), &over);
    if (l->host || !only || only->segments == 0)
        translate_admit(t, only);
    l->counts.waiting = l->waiting.count;
    l->counts.running = l->begun.count;
    if (l->host)
        l->host->count(l->context, &l->counts); /* before `end`, so that it finds the text counted */
    return over;
}

/* Without the lock. */
static bool lane_end_texts(const translate_lane *l, queue *over)
{
    translate_text *x;
    const bool any = over->first != NULL;
    while ((x = queue_pop(over)))
        if (l->host)
            l->host->end(l->context, x);
    return any;
}

/* ---- a lane's step ----------------------------------------------------------------------------------------------------- */

static bool lane_is_awaited(const translate_lane *l, bool own)
{
    return l->host && l->host->is_awaited(l->context, own);
}

/* Whether the lane's step must end. */
static bool lane_is_enough(translate_lane *l)
{
    return atomic_load(&l->few) || clock_seconds() >= l->deadline || lane_is_awaited(l, false);
}

/* Called by a worker after each of its steps, so that no worker waits for another. False: it has nothing to do. */
static bool lane_refill(rapt_translator *t, translate_worker *w)
{
    translate_lane *l = &t->lane;
    thread_lock(&l->lock);
    lane_collect(l, w);
    queue over = lane_turn_over(t, w);
    const double now = clock_seconds();
    const bool busy = w->segments > 0, rest = l->waiting.count > 0;
    l->counts.busy += now - l->counted;
    l->counted = now;
    thread_unlock(&l->lock);
    lane_end_texts(l, &over);
    if (rest && l->host && atomic_load(&l->idle) > 0)
        l->host->wake(l->context);
    return busy;
}

/* Whether all threads together compute the batches of the `busy` workers. */
static bool lane_shares_threads(const rapt_translator *t, int busy)
{
    return 2 * busy <= t->tapes.threads;
}

/* Waits until there is work. False: the lane's step is over. Does not wait if others must have their turn. A run without a host
 * ends as it began, because the tape of all threads would take as much memory again as a thread's. */
static bool lane_wait(rapt_translator *t, translate_worker *w)
{
    translate_lane *l = &t->lane;
    const int idle = atomic_fetch_add(&l->idle, 1) + 1;
    bool busy = false;
    if (l->host && !l->alone && lane_shares_threads(t, t->tapes.threads - idle))
        atomic_store(&l->few, true);
    while (l->alone && !busy && !lane_is_enough(l)) {
        l->host->wait(l->context, IDLE_SECONDS);
        busy = lane_refill(t, w);
        if (!busy && lane_shares_threads(t, t->tapes.threads - atomic_load(&l->idle)))
            atomic_store(&l->few, true);
    }
    atomic_fetch_sub(&l->idle, busy);
    return busy;
}

/* Whether a worker continues the lane's step. */
static bool lane_goes_on(rapt_translator *t, translate_worker *w)
{
    return (lane_refill(t, w) || lane_wait(t, w)) && !lane_is_enough(&t->lane);
}

/* A pool_fn: each worker computes on its own tape. */
static void lane_advance(void *context, size_t worker, int thread)
{
    rapt_translator *t = context;
    translate_worker *w = &t->lane.workers[worker];
    rapt_tape *tape = t->tapes.list[worker];
    (void)thread;
    do {
        worker_begin(w, tape);
        worker_step(w, tape);
    } while (lane_goes_on(t, w));
}

/* Computes one worker after the other, each on all threads, until there are results, new texts, or others that wait. */
static void lane_advance_alone(rapt_translator *t)
{
    translate_lane *l = &t->lane;
    rapt_tape *tape = t->tapes.all;
    bool any = true;
    for (int i = 0; i < t->tapes.threads; i++)
        worker_begin(&l->workers[i], tape);
    while (any && !atomic_load(&l->ended) && clock_seconds() < l->deadline && !lane_is_awaited(l, true)) {
        any = false;
        for (int i = 0; i < t->tapes.threads; i++)
            any = worker_step(&l->workers[i], tape) || any;
    }
}

static int lane_busy(const rapt_translator *t)
{
    int busy = 0;
    for (int i = 0; i < t->tapes.threads; i++)
        busy += t->lane.workers[i].segments > 0;
    return busy;
}

static void lane_compute(rapt_translator *t)
{
    translate_lane *l = &t->lane;
    l->counted = clock_seconds();
    l->alone = l->host && l->host->is_alone(l->context);
    l->deadline = !l->host ? INFINITY : l->counted + (l->alone ? LONGEST_STEP_SECONDS : STEP_SECONDS);
    atomic_store(&l->idle, 0);
    atomic_store(&l->few, false);
    if (lane_shares_threads(t, lane_busy(t)))
        lane_advance_alone(t);
    else
        pool_run(t->tapes.pool, (size_t)t->tapes.threads, SIZE_MAX, lane_advance, t);
    l->counts.busy += clock_seconds() - l->counted;
}

/* Between two steps only the calling thread is here. */
bool translate_lane_step(rapt_translator *t)
{
    translate_lane *l = &t->lane;
    for (int i = 0; i < t->tapes.threads; i++)
        lane_collect(l, &l->workers[i]);
    queue over = lane_turn_over(t, NULL);
    const bool ended = lane_end_texts(l, &over), busy = lane_busy(t) > 0;
    if (busy)
        lane_compute(t);
    /* Out of memory, items fail that never began: texts end, or others of their items wait. */
    return busy || ended || atomic_load(&l->ended) || l->waiting.count > 0;
}

/* ---- the lane ------------------------------------------------------------------------------------------------------- */

rapt_code translate_lane_init(rapt_translator *t, rapt_error *err)
{
    translate_lane *l = &t->lane;
    l->batch = t->setup.o.batch;
    l->picked_max = 2 * l->batch * (size_t)t->tapes.threads;
    l->workers = calloc((size_t)t->tapes.threads, sizeof *l->workers);
    l->picked = calloc(l->picked_max, sizeof *l->picked);
    for (int i = 0; l->workers && i < t->tapes.threads; i++)
        l->workers[i].runs.setup = &t->setup;
    return l->workers && l->picked ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to translate");
}

void translate_lane_free(rapt_translator *t)
{
    translate_lane *l = &t->lane;
    for (int i = 0; l->workers && i < t->tapes.threads; i++) {
        segment_runs_free(&l->workers[i].runs);
        free(l->workers[i].items);
    }
    free(l->workers);
    free(l->picked);
}
