/* train/shards/shard_batches.h: the shards of a process, and the batches of a shard. For the passes of a step, and for counting
 * their memory. */
#ifndef TRAIN_SHARDS_SHARD_BATCHES_H
#define TRAIN_SHARDS_SHARD_BATCHES_H

#include "group/shard_tree.h"
#include "train/run.h"

/* The shards of this process: all of them without a group. */
shard_node shard_batches_own(const run *r);
/* The first batch of a shard, counted within the step; for the shard after the last, the number of batches. */
uint64_t shard_batches_first(const run *r, uint32_t shard);
/* The first batch of a rank, counted in the same way. */
uint64_t shard_batches_first_of_rank(const run *r, int rank);

#endif
