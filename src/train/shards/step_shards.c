/* train/shards/step_shards.c: see step_shards.h. */
#include "train/shards/step_shards.h"

#include <stdlib.h>

shard_node step_shards_own(const run *r)
{
    uint32_t shards = (uint32_t)r->recipe->train.shards;
    return (shard_node){shard_first(r->rank, r->ranks, shards), shard_first(r->rank + 1, r->ranks, shards)};
}

uint64_t step_shards_batch(const run *r, uint32_t shard)
{
    return (uint64_t)shard * (uint64_t)r->recipe->train.accumulate / (uint64_t)r->recipe->train.shards;
}

rapt_code step_shards_set_up(run *r, rapt_error *err)
{
    if (r->recipe->train.shards == 1)
        return RAPT_OK;
    step_shards *s = r->shards = calloc(1, sizeof *s);
    if (!s)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for shards");
    s->own = step_shards_own(r);
    rapt_code code = gradient_layout_make(&s->layout, r->model->params, err);
    if (code)
        return code;
    s->sums = shard_sums_new(r->model->params, &s->layout, s->own, (uint32_t)r->recipe->train.shards, err);
    return s->sums ? RAPT_OK : err->code;
}

void step_shards_free(step_shards *s)
{
    if (!s)
        return;
    shard_sums_free(s->sums);
    gradient_layout_free(&s->layout);
    free(s);
}

void step_shards_finish(step_shards *s)
{
    shard_sums_use_dense(s->sums, shard_sums_touched(s->sums));
    for (size_t i = 0; i < s->layout.params; i++)
        shard_sums_use_rows(s->sums, i, shard_sums_rows(s->sums, 0, i));
}
