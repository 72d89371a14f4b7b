/* train/shards/shard_batches.c: divides the passes of a step among shards. docs/number-format.md, "Shards", has the formula. */
#include "train/shards/shard_batches.h"

#include "train/step_passes.h"

shard_node shard_batches_own(const run *r)
{
    uint32_t shards = (uint32_t)r->recipe->train.shards;
    return (shard_node){shard_first(r->rank, r->ranks, shards), shard_first(r->rank + 1, r->ranks, shards)};
}

uint64_t shard_batches_first(const run *r, uint32_t shard)
{
    return (uint64_t)shard * step_passes(r->recipe) / (uint64_t)r->recipe->train.shards;
}

uint64_t shard_batches_first_of_rank(const run *r, int rank)
{
    return shard_batches_first(r, shard_first(rank, r->ranks, (uint32_t)r->recipe->train.shards));
}
