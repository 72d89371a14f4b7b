/* train/shards/shard_batches.h: which shards a process has, and which batches a shard. For the passes of a step, and for whoever
 * counts what they take. */
#ifndef TRAIN_SHARDS_SHARD_BATCHES_H
#define TRAIN_SHARDS_SHARD_BATCHES_H

#include "group/shard_tree.h"
#include "train/run.h"

/* The shards of this process: all of them without a group. */
shard_node shard_batches_own(const run *r);
/* The first batch of a shard, counted in the step; of the shard behind the last one: the number of batches. */
uint64_t shard_batches_first(const run *r, uint32_t shard);
/* The first batch of a rank, likewise. */
uint64_t shard_batches_first_of_rank(const run *r, int rank);

#endif
