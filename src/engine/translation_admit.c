/* engine/translation_admit.c: chooses the sentences that begin, and their threads. Requests take turns, one sentence at a time; a
 * request without a running sentence gets one in even if the threads are full, so that a long request never keeps a short one
 * waiting. */
#include "base/clock.h"
#include "engine/translation_lane.h"

#include <stdlib.h>
#include <string.h>

enum {
    USUAL_BEAM = 8,
    SHORT = 8,   /* segments of a request that counts as short */
    MANY_COHORTS = 24 /* cohorts of a worker; with more, only requests without a running sentence get in */
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
    size_t running, capacity, capacity_of_long, group_max;
    size_t most;              /* that may begin now */
    size_t own, own_max;      /* of the only worker: its sentences, and the number from which on requests that already run get no
                                 more */
    bool refill, refill_long; /* there is room for enough sentences to make a cohort worth it */
    const translate_settings *groups[TRANSLATE_TOGETHER]; /* [group_count] settings of the sentences that begin */
    size_t group_count;
} translation_room;

static bool translation_has_room(size_t running, size_t capacity)
{
    return running < capacity && capacity - running >= capacity / 8;
}

/* A worker's share of all running and waiting sentences, minus the sentences that it has. Workers that cannot begin another
 * cohort have no share in what waits. */
static size_t translation_share(const translation_lane *l, const translation_worker *w, size_t running)
{
    const size_t most = 2 * l->t->setup.o.batch; /* includes sentences of requests that have none running */
    size_t all = running, open = 0;
    for (int i = 0; i < l->t->threads; i++)
        open += l->workers[i].count < TRANSLATE_TOGETHER;
    for (const rapt_engine_job *job = l->waiting.first; job; job = job->next)
        all += translation_job_waiting((const translation_job *)job);
    size_t share = open > 0 ? (all + open - 1) / open : 0;
    share = share < most ? share : most;
    return share > w->sentences ? share - w->sentences : 0;
}

static translation_room translation_look(const translation_lane *l, const translation_worker *only)
{
    const size_t workers = (size_t)l->t->threads;
    translation_room r = {.capacity = l->t->setup.o.batch * workers, .most = l->picked_max, .own_max = SIZE_MAX};
    size_t cohorts = 0;
    for (size_t i = 0; i < workers; i++) {
        r.running += l->workers[i].sentences;
        cohorts += l->workers[i].count;
    }
    r.capacity_of_long = translation_capacity_of_long(l, only ? only : l->workers, r.capacity);
    r.refill = cohorts < MANY_COHORTS * workers && translation_has_room(r.running, r.capacity);
    r.refill_long = r.refill && translation_has_room(r.running, r.capacity_of_long);
    const size_t free = only ? TRANSLATE_TOGETHER - only->count : TRANSLATE_TOGETHER * workers - cohorts;
    r.group_max = free < TRANSLATE_TOGETHER ? free : TRANSLATE_TOGETHER;
    if (only) {
        const size_t share = translation_share(l, only, r.running);
        r.most = share < r.most ? share : r.most;
        r.own = only->sentences;
        r.own_max = l->t->setup.o.batch;
    }
    return r;
}

/* Whether there is a cohort for such an item, or may be one more. */
static bool translation_groups(translation_room *r, const translate_settings *s)
{
    for (size_t i = 0; i < r->group_count; i++)
        if (translate_settings_equal(r->groups[i], s))
            return true;
    if (r->group_count == r->group_max)
        return false;
    r->groups[r->group_count++] = s;
    return true;
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

static bool translation_may_begin(translation_room *r, const translation_job *j)
{
    const bool is_long = translation_is_long(j), refill = is_long ? r->refill_long : r->refill;
    const size_t beam = j->text.settings.o.beam, most = is_long ? r->capacity_of_long : r->capacity;
    const bool normal = refill && r->running < translation_of_beam(most, beam) &&
                        r->own < (r->own_max == SIZE_MAX ? SIZE_MAX : translation_of_beam(r->own_max, beam));
    const bool first = translation_job_running(j) == 0 && r->running < 2 * translation_of_beam(r->capacity, beam);
    return (normal || first) && translation_groups(r, &j->text.settings);
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

static bool translation_is_large(const translation_cohort *f)
{
    return f->largest > SHORT;
}

/* How badly a cohort's memory fits n sentences: smallest if it is just large enough, largest if it would have to grow. */
static size_t translation_misfit(const translation_cohort *f, size_t n)
{
    return f->largest >= n ? f->largest - n : SIZE_MAX - f->largest;
}

/* Takes the unused cohort that fits n sentences best, so that few cohorts have the memory of many sentences; NULL: there is
 * none. */
static translation_cohort *translation_take_unused(translation_lane *l, size_t n)
{
    translation_cohort **best = &l->unused;
    for (translation_cohort **at = best; *at; at = &(*at)->next)
        if (translation_misfit(*at, n) < translation_misfit(*best, n))
            best = at;
    translation_cohort *f = *best;
    if (f)
        *best = f->next;
    return f;
}

void translation_cohort_free(translation_cohort *f)
{
    translate_batch_free(&f->batch);
    free(f->items);
    free(f);
}

/* Memory of large cohorts is kept for as many as there are threads. */
void translation_recycle(translation_lane *l, translation_cohort *f)
{
    int large = 0;
    for (const translation_cohort *s = l->unused; s; s = s->next)
        large += translation_is_large(s);
    if (translation_is_large(f) && large >= l->t->threads) {
        translation_cohort_free(f);
        return;
    }
    f->next = l->unused;
    l->unused = f;
}

static translation_cohort *translation_cohort_new(translation_lane *l, rapt_error *err)
{
    translation_cohort *f = calloc(1, sizeof *f);
    if (!f)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch of translations");
    else if (translate_batch_init(&f->batch, &l->t->setup, err)) {
        translation_cohort_free(f);
        f = NULL;
    }
    return f;
}

static translation_worker *translation_least_loaded(translation_lane *l)
{
    translation_worker *best = NULL;
    for (int i = 0; i < l->t->threads; i++) {
        translation_worker *w = &l->workers[i];
        if (w->count < TRANSLATE_TOGETHER && (!best || w->sentences < best->sentences))
            best = w;
    }
    return best;
}

/* Begins items[n] of one group together in worker w. If out of memory, they fail. */
static void translation_assign(translation_lane *l, translation_worker *w, translate_item *const *items, size_t n)
{
    rapt_error err = {0};
    translation_cohort *f = translation_take_unused(l, n);
    f = f ? f : translation_cohort_new(l, &err);
    translate_item **own = f ? malloc(n * sizeof *own) : NULL;
    if (!own) {
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for a batch of translations");
        for (size_t i = 0; i < n; i++)
            translate_text_fail(items[i], &err);
        if (f)
            translation_recycle(l, f);
        return;
    }
    f->items = memcpy(own, items, n * sizeof *own);
    f->count = n;
    f->largest = n > f->largest ? n : f->largest;
    w->cohorts[w->count++] = f;
    w->sentences += n;
}

/* The picked items of a group, shared out among as many workers as there is room for. */
static void translation_assign_group(translation_lane *l, translation_worker *only, const translate_settings *s,
                                     size_t max_cohorts)
{
    size_t n = 0;
    for (size_t i = n; i < l->picked_count; i++)
        if (translate_settings_equal(&l->picked[i]->text->settings, s)) {
            translate_item *item = l->picked[i];
            l->picked[i] = l->picked[n];
            l->picked[n++] = item;
        }
    const size_t workers = only ? 1 : (size_t)l->t->threads, cohorts = max_cohorts < workers ? max_cohorts : workers;
    const size_t each = (n + cohorts - 1) / cohorts;
    for (size_t first = 0; first < n; first += each)
        translation_assign(l, only ? only : translation_least_loaded(l), l->picked + first, n - first < each ? n - first : each);
    l->picked_count -= n;
    memmove(l->picked, l->picked + n, l->picked_count * sizeof *l->picked);
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
    for (size_t i = 0; i < r.group_count; i++) {
        const size_t free = r.group_max - r.group_count; /* cohorts beyond one of each group */
        translation_assign_group(l, only, r.groups[i], 1 + free / r.group_count);
    }
}
