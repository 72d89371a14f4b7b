/* engine/lm_slot.c: chooses the slot of the KV cache for a text, and the cached prefix that it finds there or in another slot.
 * Keys and values of a prefix do not depend on what follows it, so a cached prefix has the bits that would be computed. */
#include "engine/lm_lane.h"

#include "base/min.h"
#include "io/model_core.h"

#include <string.h>

/* Tokens of a job's text that the model sees, from number `first` of the text on. */
typedef struct lm_view {
    const int32_t *ids;
    size_t count, first;
} lm_view;

static lm_view lm_view_of(const lm_job *j)
{
    const size_t visible = rapt_lm_visible(&j->run.model->language.net->config, j->run.text.count);
    return (lm_view){j->run.text.ids + j->run.text.count - visible, visible, j->run.text.count - visible};
}

/* How many tokens two sequences begin with in common, `most` at most. */
static size_t lm_common(const int32_t *a, size_t a_count, const int32_t *b, size_t b_count, size_t most)
{
    size_t n = 0;
    most = MIN(most, MIN(a_count, b_count));
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* The number of tokens of a view that a slot holds; the last token does not count, because its logits are needed. */
static size_t lm_held_of(const lm_slot *s, lm_view v)
{
    return lm_common(s->held.ids, s->held.count, v.ids, v.count, v.count - 1);
}

/* ---- what a slot holds --------------------------------------------------------------------------------------------- */

static void lm_slot_truncate(lm_lane *l, lm_slot *s, size_t count)
{
    kv_cache_row_truncate(l->kv, (size_t)(s - l->slots), count);
    s->held.count = MIN(s->held.count, count);
}

static void lm_slot_drop(lm_lane *l, lm_slot *s)
{
    kv_cache_row_trim(l->kv, (size_t)(s - l->slots), 0);
    s->held.count = 0;
}

/* Counts tokens of a prompt that need not be computed. */
static void lm_count_cached(lm_lane *l, lm_job *j, size_t tokens)
{
    if (j->run.result.token_count > 0) /* a window that is recomputed is not a prompt */
        return;
    j->cached += tokens;
    l->counts.cached_tokens += tokens;
}

/* Copies the longest prefix of a view that another slot holds, if it is longer than the slot's own. */
static void lm_slot_borrow(lm_lane *l, lm_slot *s, lm_view v)
{
    size_t best = s->held.count, from = 0;
    rapt_error err = {0};
    for (size_t i = 0; i < l->slot_count; i++) {
        const size_t held = &l->slots[i] == s ? 0 : lm_held_of(&l->slots[i], v);
        if (held > best) {
            best = held;
            from = i;
        }
    }
    if (best == s->held.count || text_tokens_put(&s->held, 0, v.ids, best, &err))
        return;
    lm_count_cached(l, s->job, best - kv_cache_row_past(l->kv, (size_t)(s - l->slots)));
    kv_cache_row_copy(l->kv, from, (size_t)(s - l->slots), best);
    l->slots[from].used = l->counts.steps;
}

size_t lm_slot_rest(lm_lane *l, lm_slot *s)
{
    const lm_view v = lm_view_of(s->job);
    if (v.first != s->first) {
        lm_slot_truncate(l, s, 0);
        s->first = v.first;
    }
    if (v.count - s->held.count > 1 && !l->no_prefix_cache && !lm_job_scores(s->job))
        lm_slot_borrow(l, s, v);
    return v.count - s->held.count;
}

bool lm_slot_follows(const lm_lane *l, const lm_slot *s)
{
    const lm_view v = lm_view_of(s->job);
    if (l->no_prefix_cache || lm_job_scores(s->job))
        return false;
    for (size_t i = 0; i < l->slot_count; i++) {
        const lm_slot *other = &l->slots[i];
        if (!other->job || other->order >= s->order)
            continue;
        const lm_view o = lm_view_of(other->job);
        const size_t common = lm_common(o.ids, o.count, v.ids, v.count, v.count - 1);
        if (o.count - other->held.count > 1 && common > s->held.count && common > other->held.count)
            return true;
    }
    return false;
}

bool lm_slot_extend(lm_lane *l, lm_slot *s, size_t count)
{
    rapt_error err = {0};
    const lm_view v = lm_view_of(s->job);
    if (text_tokens_put(&s->held, s->held.count, v.ids + s->held.count, count, &err) == RAPT_OK)
        return true;
    lm_slot_drop(l, s);
    return false;
}

void lm_slot_trim(lm_lane *l, lm_slot *s)
{
    lm_slot_truncate(l, s, s->held.count);
    s->job->lookup.proposed = 0;
}

/* ---- admission ----------------------------------------------------------------------------------------------------- */

/* Max positions of the KV cache that a job may need. */
static size_t lm_job_positions(const lm_job *j)
{
    const size_t context = j->run.model->language.net->config.context, count = j->request.count;
    const size_t more = MIN(j->run.options.max_tokens, context);
    return MIN(count + more, context);
}

/* The free slot that was used longest ago, among all or (`holding`) among slots that are not empty, but not `but`; NULL: there is
 * none. */
static lm_slot *lm_oldest_free(lm_lane *l, bool holding, const lm_slot *but)
{
    lm_slot *oldest = NULL;
    for (size_t i = 0; i < l->slot_count; i++) {
        lm_slot *s = &l->slots[i];
        if (!s->job && s != but && (!holding || s->held.count > 0) && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

/* A free slot that holds much of the job's beginning, and little else that others could use; or else the oldest one. */
static lm_slot *lm_slot_for(lm_lane *l, const lm_job *j)
{
    lm_slot *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < l->slot_count && !l->no_prefix_cache && !j->request.score_prompt; i++) {
        lm_slot *s = &l->slots[i];
        const size_t held = s->job ? 0 : lm_held_of(s, lm_view_of(j));
        if (held > most && 2 * held >= s->held.count) {
            most = held;
            best = s;
        }
    }
    return best ? best : lm_oldest_free(l, false, NULL);
}

/* Positions that running texts have reserved; with `held`, plus the positions that free slots except `but` hold. */
static size_t lm_positions(const lm_lane *l, const lm_slot *but, bool held)
{
    size_t all = 0;
    for (size_t i = 0; i < l->slot_count; i++) {
        const lm_slot *s = &l->slots[i];
        all += s == but ? 0 : s->job ? s->job->reserved : held ? s->held.count : 0;
    }
    return all;
}

bool lm_slot_admit(lm_lane *l, lm_job *j)
{
    lm_slot *s = lm_slot_for(l, j), *old;
    const size_t need = lm_job_positions(j);
    if (!s || lm_positions(l, s, false) + need > l->positions)
        return false;
    while (lm_positions(l, s, true) + need > l->positions && (old = lm_oldest_free(l, true, s)))
        lm_slot_drop(l, old);
    const size_t held = l->no_prefix_cache || j->request.score_prompt ? 0 : lm_held_of(s, lm_view_of(j));
    lm_slot_truncate(l, s, held);
    kv_cache_row_trim(l->kv, (size_t)(s - l->slots), need); /* a longer text may have been there */
    s->job = j;
    s->first = 0;
    s->order = ++l->admitted;
    j->slot = (size_t)(s - l->slots);
    j->reserved = need;
    lm_count_cached(l, j, held);
    return true;
}

void lm_slot_release(lm_lane *l, lm_slot *s)
{
    s->job = NULL;
    s->used = l->counts.steps;
    if (l->no_prefix_cache)
        lm_slot_drop(l, s);
}
