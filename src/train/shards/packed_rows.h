/* train/shards/packed_rows.h: the gradient of a sparse parameter as a list of the rows that it has. For the tree over shards
 * (shard_sums.c), in which all other rows count as +0. */
#ifndef TRAIN_SHARDS_PACKED_ROWS_H
#define TRAIN_SHARDS_PACKED_ROWS_H

#include "kernels/kernels.h"
#include "tensor/param_state.h"

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

#endif
