/* train/shards/shard_sums.h: the gradients of a step's shards, added in the tree of docs/number-format.md, "Shards". For step.c:
 * passes write gradients into the parameters, shard after shard, as in a step without shards. A sum is made as soon as both
 * operands exist, so that few gradients are in memory at once: log2(shards) + 1 on one process. */
#ifndef TRAIN_SHARDS_SHARD_SUMS_H
#define TRAIN_SHARDS_SHARD_SUMS_H

#include "group/shard_tree.h"
#include "kernels/kernels.h"
#include "tape/tape_core.h"
#include "tensor/param_state.h"
#include "train/shards/gradient_layout.h"

/* ---- packed_rows.c: the gradient of a sparse parameter as a list of the rows that it has. For the tree over shards
 * (shard_sums.c), in which all other rows count as +0. */

/* Zeroed: no rows. Memory is kept for reuse until packed_rows_free. */
typedef struct packed_rows {
    size_t count;
    uint32_t *ids;   /* [count], rising */
    rapt_real *rows; /* [count, width] */
    size_t id_capacity, row_capacity; /* elements of both */
} packed_rows;

/* Moves p's gradient into the list: p has none afterwards. False: out of memory, and p is unchanged. */
bool packed_rows_take(packed_rows *to, rapt_param *p);
/* Adds the rows to p, which has no gradient, as its gradient. */
void packed_rows_put(const packed_rows *from, rapt_param *p);
/* sum = a + b, each row that one of them lacks being +0. False: out of memory. */
bool packed_rows_add(packed_rows *sum, const packed_rows *a, const packed_rows *b, size_t width, const kernels *k);
/* Copies them. False: out of memory. */
bool packed_rows_copy(packed_rows *to, const packed_rows *from, size_t width);
void packed_rows_free(packed_rows *p);

/* ---- shard_sums.c: the sums of shards */

typedef struct shard_sums shard_sums;

/* Whether a and b, which follow each other, are the children of a node of the tree over `shards` shards. */
bool shard_sums_are_children(shard_node a, shard_node b, uint32_t shards);
/* The number of gradients in memory at once for shards own.first .. own.end - 1 of `shards`. */
size_t shard_sums_depth(shard_node own, uint32_t shards);

/* Sums over those shards. From now on the gradients of dense parameters are in memory of the sums; set and layout must outlive
 * them. NULL: out of memory. */
shard_sums *shard_sums_new(const rapt_params *set, const gradient_layout *layout, shard_node own, uint32_t shards,
                           rapt_error *err);
/* Gives the parameters their own gradient memory back. NULL is fine. */
void shard_sums_free(shard_sums *s);

/* A step begins: no parameter has a gradient. */
void shard_sums_restart(shard_sums *s);
/* The passes since the last call belong to the next shard: takes the gradients that they have left in the parameters, which have
 * none afterwards. RAPT_ERR_MEMORY: out of memory. */
rapt_code shard_sums_add(shard_sums *s, rapt_tape *t, rapt_error *err);
/* Makes the sums of elements from .. end - 1, which the passes of the last shard have completed. The ranges must cover the array,
 * in any order, before shard_sums_add, which then leaves dense parameters alone because the sums may have been sent. */
void shard_sums_add_range(shard_sums *s, rapt_tape *t, size_t from, size_t end);

/* The sums that are there, in order: after all shards one for each subtree of the process, on one process only one. */
size_t shard_sums_count(const shard_sums *s);
/* Sum `index` of all dense parameters, in the layout. */
rapt_real *shard_sums_dense(const shard_sums *s, size_t index);
/* Sum `index` of sparse parameter `param`. */
const packed_rows *shard_sums_rows(const shard_sums *s, size_t index, size_t param);
/* [parameters of the set]: 1 if one of the shards has a gradient. */
const uint8_t *shard_sums_touched(const shard_sums *s);

/* Makes the first sum the gradient of the dense parameters with touched[i]. */
void shard_sums_use_dense(shard_sums *s, const uint8_t *touched);
/* Makes `rows` the gradient of sparse parameter `param`. */
void shard_sums_use_rows(shard_sums *s, size_t param, const packed_rows *rows);

#endif
