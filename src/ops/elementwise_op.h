/* ops/elementwise_op.h: sums in place, for the residual connection, and sums and shapes of operands that differ. */
#ifndef OPS_ELEMENTWISE_OP_H
#define OPS_ELEMENTWISE_OP_H

#include "tape/tape_core.h"

/* rapt_op_add of equal shapes; `overwrite`: in place of b. */
rapt_tensor *elementwise_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool overwrite);

/* ---- broadcast.c: tensors whose shapes differ */

/* The shape that two tensors are broadcast to, and its number of dimensions; 0 after recording the failure of `op`. */
int broadcast_shape(rapt_tape *t, const char *op, const rapt_tensor *a, const rapt_tensor *b, size_t shape[RAPT_MAX_DIMS]);
/* rapt_op_add of shapes that are not equal. */
rapt_tensor *broadcast_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b);

#endif
