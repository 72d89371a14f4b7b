/* train/shards/rows_share.h: gradients of sparse parameters of all processes: each gets the few rows of all others, and makes
 * their sum over all shards. For step_ranks.c. */
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
    packed_rows rows[SHARD_MAX_SUBTREES + 3]; /* their rows; the last one is where sums are made */
    buffer message;
} rows_share;

/* Frees its memory. */
void rows_share_free(rows_share *s);
/* Makes the sum over all processes the gradient of sparse parameter `param`. All processes do. RAPT_ERR_MEMORY: out of memory;
 * else as the group fails. */
rapt_code rows_share_sum(rows_share *s, shard_sums *own, const kernels *k, const rapt_param *p, rapt_error *err);

#endif
