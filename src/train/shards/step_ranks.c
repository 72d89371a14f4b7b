/* train/shards/step_ranks.c: what processes send each other in a step, and when. group/ has the messages. */
#include "train/shards/step_ranks.h"

#include "io/model_core.h"
#include "tape/profile_op.h"
#include "tensor/params.h"
#include "train/optimizer/adam_owned.h"
#include "train/shards/gradient_layout.h"
#include "train/shards/step_shards.h"

#include <math.h>
#include <stdlib.h>

/* ---- set-up ----------------------------------------------------------------------------------------------------- */

/* Orders blocks by their owners' ranges, and within a range in the order of the model. */
static void step_ranks_place(step_ranks *s)
{
    const size_t blocks = s->buckets.blocks.count;
    const int ranks = s->buckets.ranks, own = group_range(s->r->rank, ranks);
    for (size_t i = 0; i < blocks; i++) {
        s->bounds[s->buckets.range_of[i] + 1]++;
        s->owned[i] = s->buckets.range_of[i] == own;
    }
    for (int i = 0; i < ranks; i++)
        s->bounds[i + 1] += s->bounds[i];
    for (size_t i = 0; i < blocks; i++)
        s->place[i] = (uint32_t)s->bounds[s->buckets.range_of[i]]++;
    for (int i = ranks; i > 0; i--)
        s->bounds[i] = s->bounds[i - 1];
    s->bounds[0] = 0;
}

static bool step_ranks_allocate(step_ranks *s, const gradient_layout *layout)
{
    const size_t blocks = s->buckets.blocks.count + 1, count = s->buckets.count + 1;
    arena_init(&s->memory, layout->size * sizeof *s->values + 4096);
    s->parts = calloc(count * SHARD_MAX_SUBTREES, sizeof *s->parts);
    s->ops = calloc(count, sizeof *s->ops);
    s->owned = calloc(blocks, sizeof *s->owned);
    s->sums = calloc(blocks, sizeof *s->sums);
    s->shared = calloc(blocks, sizeof *s->shared);
    s->bounds = calloc((size_t)s->buckets.ranks + 2, sizeof *s->bounds);
    s->place = calloc(blocks, sizeof *s->place);
    if (!s->parts || !s->ops || !s->owned || !s->sums || !s->shared || !s->bounds || !s->place)
        return false;
    s->values = value_array_move(&s->memory, s->r->model->params, layout);
    return s->values != NULL;
}

static void step_ranks_completed(void *context, size_t index);

/* Makes what overlaps with passes: gathers and ready buckets. */
static rapt_code step_ranks_make_overlap(step_ranks *s, const gradient_layout *layout, rapt_error *err)
{
    const run *r = s->r;
    s->ready = ready_new(r->tape, r->model->params, layout, &s->buckets, step_ranks_completed, s, err);
    if (!s->ready)
        return err->code;
    s->gathers = gathers_new(r->group, r->tape, r->model->params, layout, &s->buckets, s->values, shard_sums_dense(s->own, 0),
                             err);
    return s->gathers ? RAPT_OK : err->code;
}

step_ranks *step_ranks_new(run *r, const gradient_layout *layout, shard_sums *own, rapt_error *err)
{
    step_ranks *s = calloc(1, sizeof *s);
    if (!s) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for shards");
        return NULL;
    }
    s->r = r;
    s->own = own;
    s->rows.group = r->group;
    s->rows.shards = (uint32_t)r->recipe->train.shards;
    rapt_muon_options muon;
    const bool with_muon = muon_of_recipe(r->recipe, &muon);
    rapt_code code = buckets_make(&s->buckets, r->model->params, layout, r->ranks, with_muon ? &muon : NULL, err);
    if (!code)
        code = step_share_make(&s->share, r, err);
    if (!code && !step_ranks_allocate(s, layout))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the parameters");
    if (!code)
        code = step_ranks_make_overlap(s, layout, err);
    if (code) {
        step_ranks_free(s);
        return NULL;
    }
    step_ranks_place(s);
    return s;
}

bool step_ranks_drop(step_ranks *s)
{
    bool open = group_broken(s->r->group) || (s->gathers && gathers_finish(s->gathers, NULL) != RAPT_OK);
    for (size_t i = 0; s->ops && i < s->buckets.count; i++)
        open = open || s->ops[i];
    return !open || group_halt(s->r->group);
}

void step_ranks_free(step_ranks *s)
{
    if (!s || !step_ranks_drop(s))
        return;
    gathers_free(s->gathers);
    ready_free(s->ready);
    step_share_free(&s->share);
    rows_share_free(&s->rows);
    buckets_free(&s->buckets);
    free(s->parts);
    free(s->ops);
    free(s->owned);
    free(s->sums);
    free(s->shared);
    free(s->bounds);
    free(s->place);
    arena_free(&s->memory);
    free(s);
}

/* ---- gradients ----------------------------------------------------------------------------------------------------- */

/* Handles a failure of this process alone: the others would wait for operations that it does not begin. */
static rapt_code step_ranks_lost(const step_ranks *s, rapt_code code)
{
    if (code)
        group_halt(s->r->group);
    return code;
}

/* Waits for the operations that were begun; the first failure counts. */
static rapt_code step_ranks_wait(step_ranks *s, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < s->buckets.count; i++) {
        if (!s->ops[i])
            continue;
        rapt_code one = group_wait(s->r->group, s->ops[i], code ? NULL : err);
        code = code ? code : one;
        s->ops[i] = NULL;
    }
    return code;
}

/* Begins the sum of a bucket over all shards. */
static rapt_code step_ranks_reduce(step_ranks *s, size_t index, rapt_error *err)
{
    shard_node nodes[SHARD_MAX_SUBTREES];
    const bucket *b = &s->buckets.list[index];
    rapt_real **parts = s->parts + index * SHARD_MAX_SUBTREES;
    size_t count = shard_subtrees(s->r->rank, s->r->ranks, s->rows.shards, nodes);
    for (size_t k = 0; k < count; k++)
        parts[k] = shard_sums_dense(s->own, k) + b->first;
    s->ops[index] = group_reduce(s->r->group, s->rows.shards, b->bounds, parts, err);
    return s->ops[index] ? RAPT_OK : err->code;
}

/* A ready_fn: this process's part of a bucket is complete. */
static void step_ranks_completed(void *context, size_t index)
{
    step_ranks *s = context;
    const bucket *b = &s->buckets.list[index];
    shard_sums_add_range(s->own, s->r->tape, b->first, b->end);
    if (!s->lost.code && !step_ranks_reduce(s, index, &s->lost))
        s->begun = index + 1;
}

void step_ranks_begin_last(step_ranks *s)
{
    (s->learnt ? ready_begin : ready_learn)(s->ready);
}

void step_ranks_end_last(step_ranks *s, bool failed)
{
    if (s->learnt)
        ready_end(s->ready);
    else
        ready_learnt(s->ready);
    s->learnt = !failed;
}

rapt_code step_ranks_arrived(step_ranks *s, rapt_error *err)
{
    return gathers_finish(s->gathers, err);
}

static rapt_code step_ranks_add_rows(step_ranks *s, rapt_error *err)
{
    const rapt_params *set = s->r->model->params;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        if (p->sparse && p->value.requires_grad)
            code = rows_share_sum(&s->rows, s->own, s->r->tape->k, p, err);
    }
    return code;
}

rapt_code step_ranks_add(step_ranks *s, rapt_code code, rapt_error *err)
{
    for (; !s->lost.code && s->begun < s->buckets.count; s->begun++) /* the others wait for these buckets, even if passes have
                                                                        failed here */
        if (step_ranks_reduce(s, s->begun, &s->lost))
            break;
    code = step_share_tell(&s->share, s->r, shard_sums_touched(s->own), code, err);
    if (!s->lost.code)
        step_ranks_wait(s, &s->lost);
    s->begun = 0;
    if (s->lost.code)
        return step_ranks_lost(s, code ? code : rapt_fail(err, s->lost.code, "%s", s->lost.message));
    if (code)
        return code;
    shard_sums_use_dense(s->own, s->share.touched);
    return step_ranks_lost(s, step_ranks_add_rows(s, err));
}

/* ---- the norm ------------------------------------------------------------------------------------------------------- */

rapt_code step_ranks_norm(step_ranks *s, double *norm, rapt_error *err)
{
    const rapt_params *set = s->r->model->params;
    const norm_blocks *blocks = &s->buckets.blocks;
    norm_blocks_sum(s->r->tape, set, blocks, s->owned, s->sums);
    for (size_t i = 0; i < blocks->count; i++)
        if (s->owned[i])
            s->shared[s->place[i]] = s->sums[i];
    group_op *op = group_gather(s->r->group, s->shared, s->bounds, sizeof *s->shared, err);
    rapt_code code = op ? group_wait(s->r->group, op, err) : err->code;
    if (code)
        return step_ranks_lost(s, code);
    for (size_t i = 0; i < blocks->count; i++)
        s->sums[i] = s->shared[s->place[i]];
    *norm = norm_blocks_norm(s->r->tape, set, blocks, s->sums);
    return RAPT_OK;
}

const char *step_ranks_not_finite(const step_ranks *s)
{
    const rapt_params *set = s->r->model->params;
    const norm_blocks *blocks = &s->buckets.blocks;
    for (size_t i = 0, next = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = params_at(set, i);
        bool finite = !p->sparse || !p->value.grad_filled ||
                      s->r->tape->k->all_finite(rapt_tensor_size(&p->value), p->value.grad);
        for (; next < blocks->count && blocks->list[next].param == i; next++)
            finite = finite && isfinite(s->sums[next]);
        if (!finite)
            return p->value.name;
    }
    return NULL;
}

/* ---- parameters ------------------------------------------------------------------------------------------------------ */

/* This process's blocks of a bucket, which are contiguous in the array. */
static size_t step_ranks_own_blocks(const step_ranks *s, size_t index, const uint32_t **list)
{
    const bucket *b = &s->buckets.list[index];
    size_t first = b->first_block, end;
    while (first < b->end_block && !s->owned[s->buckets.block_at[first]])
        first++;
    for (end = first; end < b->end_block && s->owned[s->buckets.block_at[end]];)
        end++;
    *list = s->buckets.block_at + first;
    return end - first;
}

rapt_code step_ranks_update(step_ranks *s, double lr, double scale, rapt_error *err)
{
    adam_owned step;
    const uint32_t *list;
    rapt_code code = adam_owned_begin(&step, s->r->adam, s->r->tape, lr, scale, &s->buckets.blocks, err);
    for (size_t i = s->buckets.count; !code && i-- > 0;) { /* in the order of the forward pass */
        size_t count = step_ranks_own_blocks(s, i, &list);
        adam_owned_move(&step, list, count);
        code = gathers_begin(s->gathers, i, err);
    }
    return step_ranks_lost(s, code);
}

rapt_code step_ranks_whole(const run *r, rapt_error *err)
{
    return r->shards && r->shards->ranks ? gathers_whole(r->shards->ranks->gathers, err) : RAPT_OK;
}
