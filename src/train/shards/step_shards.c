/* train/shards/step_shards.c: makes and frees the state of steps with several shards. */
#include "train/shards/step_shards.h"

#include "io/model_core.h"
#include "tensor/params.h"
#include "train/shards/shard_batches.h"
#include "train/shards/step_ranks.h"

#include <stdlib.h>

rapt_code step_shards_set_up(run *r, rapt_error *err)
{
    if (r->recipe->train.shards == 1)
        return RAPT_OK;
    step_shards *s = r->shards = calloc(1, sizeof *s);
    if (!s)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for shards");
    s->own = shard_batches_own(r);
    rapt_code code = gradient_layout_make(&s->layout, r->model->params, err);
    if (code)
        return code;
    s->sums = shard_sums_new(r->model->params, &s->layout, s->own, (uint32_t)r->recipe->train.shards, err);
    if (s->sums && r->group)
        s->ranks = step_ranks_new(r, &s->layout, s->sums, err);
    return s->sums && (s->ranks || !r->group) ? RAPT_OK : err->code;
}

bool step_shards_drop(step_shards *s)
{
    return !s || !s->ranks || step_ranks_drop(s->ranks);
}

void step_shards_free(step_shards *s)
{
    if (!s)
        return;
    step_ranks_free(s->ranks);
    shard_sums_free(s->sums);
    gradient_layout_free(&s->layout);
    free(s);
}

size_t step_shards_segment(const run *r, size_t param, size_t at, size_t *limits)
{
    const size_t offset = r->shards->layout.offset[param], size = rapt_tensor_size(&params_at(r->model->params, param)->value);
    return offset == LAYOUT_NOWHERE ? 0 : buckets_segment(&r->shards->ranks->buckets, offset, size, at, limits);
}

void step_shards_finish(step_shards *s)
{
    shard_sums_use_dense(s->sums, shard_sums_touched(s->sums));
    for (size_t i = 0; i < s->layout.params; i++)
        shard_sums_use_rows(s->sums, i, shard_sums_rows(s->sums, 0, i));
}
