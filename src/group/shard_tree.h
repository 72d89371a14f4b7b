/* group/shard_tree.h: the sums that make the gradient of a step with several shards, and the sums that a process makes alone.
 * Part of the number format (docs/number-format.md, "Shards"). For src/train and this folder; it knows no messages. */
#ifndef GROUP_SHARD_TREE_H
#define GROUP_SHARD_TREE_H

#include "rapt/base.h"

/* A node of the tree over shards 0 .. shards - 1: the sum of shards first .. end - 1. One of several shards has the children
 * {first, m} and {m, end}, m = first + the largest power of two below end - first. */
typedef struct shard_node {
    uint32_t first, end;
} shard_node;

#define SHARD_MAX_SUBTREES 64 /* max subtrees of a rank: two for each level of a tree over 2^32 shards */

/* floor(rank * shards / size): the first shard of a rank; the shards of the last rank end at shard_first(size, size, shards). */
uint32_t shard_first(int rank, int size, uint32_t shards);
/* m above, for a node of several shards. */
uint32_t shard_split(shard_node n);
/* Whether the tree over `shards` shards has this node. */
bool shard_is_node(shard_node n, uint32_t shards);
/* The largest nodes within the rank's shards, in order, which it sums alone. Returns their number. */
size_t shard_subtrees(int rank, int size, uint32_t shards, shard_node nodes[SHARD_MAX_SUBTREES]);

#endif
