/* decode/translate_admit.c: chooses the segments that begin, and their threads. Texts take turns, one segment at a time; a text
 * without a running segment gets one in even if the threads are full, so that a long text never keeps a short one waiting. */
#include "decode/translate.h"

#include "base/buffer.h"
#include "base/clock.h"

#include <string.h>

enum {
    USUAL_BEAM = 8,
    SHORT = 8    /* segments of a text that counts as short */
};
#define SHORT_STEP_SECONDS 1.0 /* for so long after a short text came during a long one, more short texts are expected */
#define SHORT_STEP_TIMES 3.0   /* max time of a step while short texts are expected, relative to a step with one row */

/* ---- how many ------------------------------------------------------------------------------------------------------ */

/* Max segments that may run together when a long text has its turn: fewer while short texts are expected. Takes the beam of the
 * text as the beam of all, and the pace of w as the pace of all workers. */
static size_t admit_capacity_of_long(const rapt_translator *t, const translate_worker *w, size_t capacity)
{
    const translate_lane *l = &t->lane;
    if (clock_seconds() >= l->short_steps_until)
        return capacity;
    const translate_text *x = (const translate_text *)l->waiting.first;
    const size_t rows = translate_pace_rows(&w->pace, SHORT_STEP_TIMES), each = rows / x->beam;
    const size_t all = (each > 0 ? each : 1) * (size_t)t->tapes.threads;
    return all < capacity ? all : capacity;
}

/* What is running, and how much more may run. */
typedef struct admit_room {
    size_t running, capacity, capacity_of_long;
    size_t most;              /* that may begin now */
    size_t own, own_max;      /* of the only worker: its segments, and the number from which on texts that already run get no
                                 more */
    bool refill, refill_long; /* there is room for enough segments to make encoding them worth it */
} admit_room;

/* Without a host a worker asks only when it is empty, and then there is always enough. */
static bool admit_has_room(const translate_lane *l, size_t running, size_t capacity)
{
    return running < capacity && (!l->host || capacity - running >= capacity / 8);
}

/* A worker's share of all running and waiting segments, minus the segments that it has. */
static size_t admit_share(const rapt_translator *t, const translate_worker *w, size_t running)
{
    const size_t most = 2 * t->lane.batch, workers = (size_t)t->tapes.threads;
    size_t all = running; /* includes segments of texts that have none running */
    for (const queue_link *at = t->lane.waiting.first; at; at = at->next)
        all += translate_text_waiting((const translate_text *)at);
    size_t share = (all + workers - 1) / workers;
    share = share < most ? share : most;
    return share > w->segments ? share - w->segments : 0;
}

static admit_room admit_look(const rapt_translator *t, const translate_worker *only)
{
    const translate_lane *l = &t->lane;
    const size_t workers = (size_t)t->tapes.threads;
    admit_room r = {.capacity = l->batch * workers, .most = l->picked_max, .own_max = SIZE_MAX};
    for (size_t i = 0; i < workers; i++)
        r.running += l->workers[i].segments;
    r.capacity_of_long = admit_capacity_of_long(t, only ? only : l->workers, r.capacity);
    r.refill = admit_has_room(l, r.running, r.capacity);
    r.refill_long = r.refill && admit_has_room(l, r.running, r.capacity_of_long);
    if (only) {
        const size_t share = l->host ? admit_share(t, only, r.running) : l->batch; /* without a host: whole batches */
        r.most = share < r.most ? share : r.most;
        r.own = only->segments;
        r.own_max = l->batch;
    }
    return r;
}

static bool admit_is_long(const translate_text *x)
{
    return x->source.count > SHORT;
}

/* A segment with a wide beam counts as several, so that no text decides how many rows run together and how much memory they
 * take. */
static size_t admit_of_beam(size_t segments, size_t beam)
{
    const size_t fewer = beam > USUAL_BEAM ? segments * USUAL_BEAM / beam : segments;
    return fewer > 0 ? fewer : 1;
}

static bool admit_may_begin(const admit_room *r, const translate_text *x)
{
    const bool is_long = admit_is_long(x), refill = is_long ? r->refill_long : r->refill;
    const size_t beam = x->beam, most = is_long ? r->capacity_of_long : r->capacity;
    const bool normal = refill && r->running < admit_of_beam(most, beam) &&
                        r->own < (r->own_max == SIZE_MAX ? SIZE_MAX : admit_of_beam(r->own_max, beam));
    const bool first = translate_text_running(x) == 0 && r->running < 2 * admit_of_beam(r->capacity, beam);
    return normal || first;
}

/* Gives every waiting text a turn while segments may begin; the next round begins after the last text that had one. False: no
 * text could use its turn. */
static bool admit_turn(translate_lane *l, admit_room *r)
{
    bool any = false;
    for (size_t n = l->waiting.count; n > 0 && l->picked_count < r->most; n--) {
        translate_text *x = (translate_text *)l->waiting.first;
        if (admit_may_begin(r, x)) {
            l->picked[l->picked_count++] = x->order[x->next++];
            r->running++;
            r->own++;
            any = true;
        }
        if (translate_text_waiting(x) > 0)
            queue_rotate(&l->waiting);
        else
            queue_put(&l->begun, queue_pop(&l->waiting));
    }
    return any;
}

/* ---- where --------------------------------------------------------------------------------------------------------- */

static translate_worker *admit_least_loaded(rapt_translator *t)
{
    translate_worker *best = t->lane.workers;
    for (int i = 1; i < t->tapes.threads; i++)
        if (t->lane.workers[i].segments < best->segments)
            best = &t->lane.workers[i];
    return best;
}

/* Lets items[n] begin together in worker w. If out of memory, they fail. */
static void admit_assign(translate_worker *w, translate_item *const *items, size_t n)
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
    w->segments += n;
}

/* How many of the picked items one worker gets. Without a host no more texts come: then a worker's batch is filled before the
 * next one, because few batches are computed faster by all threads together. */
static size_t admit_each(const rapt_translator *t)
{
    const translate_lane *l = &t->lane;
    const size_t workers = (size_t)t->tapes.threads;
    return l->host ? (l->picked_count + workers - 1) / workers : admit_of_beam(l->batch, l->picked[0]->text->beam);
}

static void admit_share_out(rapt_translator *t, translate_worker *only)
{
    const translate_lane *l = &t->lane;
    const size_t n = l->picked_count, each = only || n == 0 ? n : admit_each(t);
    for (size_t first = 0; first < n; first += each)
        admit_assign(only ? only : admit_least_loaded(t), l->picked + first, n - first < each ? n - first : each);
}

/* ---- admission ----------------------------------------------------------------------------------------------------- */

/* Notes whether short texts wait or run at the same time as long ones. */
static void admit_expect(translate_lane *l)
{
    bool is_short = false, is_long = false;
    for (const queue *q = &l->waiting; q; q = q == &l->waiting ? &l->begun : NULL)
        for (const queue_link *at = q->first; at; at = at->next) {
            const bool one = admit_is_long((const translate_text *)at);
            is_short = is_short || !one;
            is_long = is_long || one;
        }
    if (is_short && is_long)
        l->short_steps_until = clock_seconds() + SHORT_STEP_SECONDS;
}

void translate_admit(rapt_translator *t, translate_worker *only)
{
    translate_lane *l = &t->lane;
    admit_expect(l);
    if (!l->waiting.first)
        return;
    admit_room r = admit_look(t, only);
    l->picked_count = 0;
    while (admit_turn(l, &r))
        ;
    admit_share_out(t, only);
}
