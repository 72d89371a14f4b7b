/* engine/translation_admit.c: chooses the sentences that begin, and their threads. Requests take turns, one sentence at a time; a
 * request without a running sentence gets one in even if the threads are full, so that a long request never keeps a short one
 * waiting. */
#include "base/buffer.h"
#include "base/clock.h"
#include "engine/translation_lane.h"

#include <string.h>

enum {
    USUAL_BEAM = 8,
    SHORT = 8    /* segments of a request that counts as short */
};
#define SHORT_STEP_SECONDS 1.0 /* for so long after a short request came during a long one, more short requests are expected */
#define SHORT_STEP_TIMES 3.0   /* max time of a step while short requests are expected, relative to a step with one row */

/* ---- how many ------------------------------------------------------------------------------------------------------ */

/* Max sentences that may run together when a long request has its turn: fewer while short requests are expected. Takes the beam
 * of the request as the beam of all, and the pace of w as the pace of all workers. */
static size_t translation_capacity_of_long(const translation_lane *l, const translation_worker *w, size_t capacity)
{
    if (clock_seconds() >= l->short_steps_until)
        return capacity;
    const translation_job *j = (const translation_job *)l->waiting.first;
    const size_t rows = translation_pace_rows(&w->pace, SHORT_STEP_TIMES), each = rows / j->text.settings.o.beam;
    const size_t all = (each > 0 ? each : 1) * (size_t)l->t->threads;
    return all < capacity ? all : capacity;
}

/* What is running, and how much more may run. */
typedef struct translation_room {
    size_t running, capacity, capacity_of_long;
    size_t most;              /* that may begin now */
    size_t own, own_max;      /* of the only worker: its sentences, and the number from which on requests that already run get no
                                 more */
    bool refill, refill_long; /* there is room for enough sentences to make encoding them worth it */
} translation_room;

static bool translation_has_room(size_t running, size_t capacity)
{
    return running < capacity && capacity - running >= capacity / 8;
}

/* A worker's share of all running and waiting sentences, minus the sentences that it has. */
static size_t translation_share(const translation_lane *l, const translation_worker *w, size_t running)
{
    const size_t most = 2 * l->t->setup.o.batch, workers = (size_t)l->t->threads;
    size_t all = running; /* includes sentences of requests that have none running */
    for (const rapt_engine_job *job = l->waiting.first; job; job = job->next)
        all += translation_job_waiting((const translation_job *)job);
    size_t share = (all + workers - 1) / workers;
    share = share < most ? share : most;
    return share > w->sentences ? share - w->sentences : 0;
}

static translation_room translation_look(const translation_lane *l, const translation_worker *only)
{
    const size_t workers = (size_t)l->t->threads;
    translation_room r = {.capacity = l->t->setup.o.batch * workers, .most = l->picked_max, .own_max = SIZE_MAX};
    for (size_t i = 0; i < workers; i++)
        r.running += l->workers[i].sentences;
    r.capacity_of_long = translation_capacity_of_long(l, only ? only : l->workers, r.capacity);
    r.refill = translation_has_room(r.running, r.capacity);
    r.refill_long = r.refill && translation_has_room(r.running, r.capacity_of_long);
    if (only) {
        const size_t share = translation_share(l, only, r.running);
        r.most = share < r.most ? share : r.most;
        r.own = only->sentences;
        r.own_max = l->t->setup.o.batch;
    }
    return r;
}

static bool translation_is_long(const translation_job *j)
{
    return j->text.source.count > SHORT;
}

/* A sentence with a wide beam counts as several, so that no request decides how many rows run together and how much memory they
 * take. */
static size_t translation_of_beam(size_t sentences, size_t beam)
{
    const size_t fewer = beam > USUAL_BEAM ? sentences * USUAL_BEAM / beam : sentences;
    return fewer > 0 ? fewer : 1;
}

static bool translation_may_begin(const translation_room *r, const translation_job *j)
{
    const bool is_long = translation_is_long(j), refill = is_long ? r->refill_long : r->refill;
    const size_t beam = j->text.settings.o.beam, most = is_long ? r->capacity_of_long : r->capacity;
    const bool normal = refill && r->running < translation_of_beam(most, beam) &&
                        r->own < (r->own_max == SIZE_MAX ? SIZE_MAX : translation_of_beam(r->own_max, beam));
    const bool first = translation_job_running(j) == 0 && r->running < 2 * translation_of_beam(r->capacity, beam);
    return normal || first;
}

/* Gives every waiting job a turn while sentences may begin; the next round begins after the last job that had one. False: no job
 * could use its turn. */
static bool translation_turn(translation_lane *l, translation_room *r)
{
    bool any = false;
    for (size_t n = l->waiting.count; n > 0 && l->picked_count < r->most; n--) {
        translation_job *j = (translation_job *)engine_queue_pop(&l->waiting);
        if (translation_may_begin(r, j)) {
            l->picked[l->picked_count++] = &j->text.items[j->next++];
            r->running++;
            r->own++;
            any = true;
        }
        engine_queue_put(translation_job_waiting(j) > 0 ? &l->waiting : &l->begun, &j->job);
    }
    return any;
}

/* ---- where --------------------------------------------------------------------------------------------------------- */

static translation_worker *translation_least_loaded(translation_lane *l)
{
    translation_worker *best = l->workers;
    for (int i = 1; i < l->t->threads; i++)
        if (l->workers[i].sentences < best->sentences)
            best = &l->workers[i];
    return best;
}

/* Lets items[n] begin together in worker w. If out of memory, they fail. */
static void translation_assign(translation_worker *w, translate_item *const *items, size_t n)
{
    rapt_error err = {0};
    if (!ARRAY_RESERVE(&w->items, &w->item_capacity, w->item_count + n)) {
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for a batch of translations");
        for (size_t i = 0; i < n; i++)
            translate_text_fail(items[i], &err);
        return;
    }
    memcpy(w->items + w->item_count, items, n * sizeof *items);
    w->item_count += n;
    w->sentences += n;
}

/* Shares the picked items out among the workers. */
static void translation_share_out(translation_lane *l, translation_worker *only)
{
    const size_t workers = only ? 1 : (size_t)l->t->threads, n = l->picked_count, each = (n + workers - 1) / workers;
    for (size_t first = 0; first < n; first += each)
        translation_assign(only ? only : translation_least_loaded(l), l->picked + first, n - first < each ? n - first : each);
}

/* ---- admission ----------------------------------------------------------------------------------------------------- */

/* Notes whether short requests wait or run at the same time as long ones. */
static void translation_expect(translation_lane *l)
{
    bool is_short = false, is_long = false;
    for (const engine_queue *q = &l->waiting; q; q = q == &l->waiting ? &l->begun : NULL)
        for (const rapt_engine_job *job = q->first; job; job = job->next) {
            const bool one = translation_is_long((const translation_job *)job);
            is_short = is_short || !one;
            is_long = is_long || one;
        }
    if (is_short && is_long)
        l->short_steps_until = clock_seconds() + SHORT_STEP_SECONDS;
}

void translation_admit(translation_lane *l, translation_worker *only)
{
    translation_expect(l);
    if (!l->waiting.first)
        return;
    translation_room r = translation_look(l, only);
    l->picked_count = 0;
    while (translation_turn(l, &r))
        ;
    translation_share_out(l, only);
}
