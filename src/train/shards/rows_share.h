/* train/shards/rows_share.h: gradients of sparse parameters of all processes: each process gets the few rows of all others, and
 * adds them over all shards. For step_ranks.c. */
#ifndef TRAIN_SHARDS_ROWS_SHARE_H
#define TRAIN_SHARDS_ROWS_SHARE_H

#include "base/buffer.h"
#include "group/shard_tree.h"
#include "rapt/group.h"
#include "train/shards/shard_sums.h"

typedef struct rows_share {
    rapt_group *group;
    uint32_t shards;
    shard_node nodes[SHARD_MAX_SUBTREES + 2]; /* sums that wait for their right neighbors, and */
    packed_rows rows[SHARD_MAX_SUBTREES + 3]; /* their rows; sums are made in the last one */
    buffer message;
} rows_share;

/* Frees its memory. */
void rows_share_free(rows_share *s);
/* Replaces the gradient of sparse parameter `param` by the sum over all processes, all of which call it. RAPT_ERR_MEMORY: out of
 * memory; or the failure of the group. */
rapt_code rows_share_sum(rows_share *s, shard_sums *own, const kernels *k, const rapt_param *p, rapt_error *err);

#endif
