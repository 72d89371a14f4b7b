/* train/shards/step_shards.h: the state of a run for steps of several shards (train.shards). For set_up.c, which makes it, and
 * step.c. */
#ifndef TRAIN_SHARDS_STEP_SHARDS_H
#define TRAIN_SHARDS_STEP_SHARDS_H

#include "train/run.h"
#include "train/shards/shard_sums.h"

typedef struct step_shards {
    gradient_layout layout;
    shard_node own;   /* shards of this process */
    shard_sums *sums; /* over them */
    struct step_ranks *ranks; /* communication of processes, or NULL */
} step_shards;

/* Makes r->shards if the recipe has several shards. */
rapt_code step_shards_set_up(run *r, rapt_error *err);
/* NULL is fine. */
void step_shards_free(step_shards *s);
/* step_ranks_drop if there are other ranks. NULL is fine. */
bool step_shards_drop(step_shards *s);

/* With a group: the elements of parameter `param` from `at` on that are divided between processes as limits[i] ..
 * limits[i + 1] - 1, of which the owner of range i has the moments (group_collect); they end before what is returned. `limits`
 * [ranks + 1]. 0: every process has the moments of the whole parameter. */
size_t step_shards_segment(const run *r, size_t param, size_t at, size_t *limits);

/* On one process, after the passes of all shards: gives the parameters the gradient of the step. */
void step_shards_finish(step_shards *s);

#endif
