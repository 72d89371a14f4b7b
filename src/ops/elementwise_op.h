/* ops/elementwise_op.h: an in-place sum. For the residual connection. */
#ifndef OPS_ELEMENTWISE_OP_H
#define OPS_ELEMENTWISE_OP_H

#include "tape/tape_core.h"

/* rapt_op_add of equal shapes; `overwrite`: in place of b. */
rapt_tensor *elementwise_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool overwrite);

/* ---- broadcast.c: the sum of tensors whose shapes differ. For rapt_op_add. */

/* rapt_op_add of shapes that are not equal. */
rapt_tensor *broadcast_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b);

#endif
