/* train/shards/step_shards.h: what a run keeps for steps of several shards (train.shards). For set_up.c, which makes it, and
 * step.c. */
#ifndef TRAIN_SHARDS_STEP_SHARDS_H
#define TRAIN_SHARDS_STEP_SHARDS_H

#include "train/run.h"
#include "train/shards/shard_sums.h"

typedef struct step_shards {
    gradient_layout layout;
    shard_node own;   /* shards of this process */
    shard_sums *sums; /* over them */
} step_shards;

/* The shards of a process: all of them without a group. */
shard_node step_shards_own(const run *r);
/* The first batch of a shard, counted in the step; of the shard behind the last one: the number of batches. */
uint64_t step_shards_batch(const run *r, uint32_t shard);

/* Makes r->shards, where the recipe has several of them. */
rapt_code step_shards_set_up(run *r, rapt_error *err);
/* NULL is fine. */
void step_shards_free(step_shards *s);

/* After the passes of all own shards: the gradient of the step is that of the parameters. */
void step_shards_finish(step_shards *s);

#endif
