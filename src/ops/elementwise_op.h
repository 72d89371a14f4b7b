/* ops/elementwise_op.h: a sum that takes the place of an operand. For the residual connection. */
#ifndef OPS_ELEMENTWISE_OP_H
#define OPS_ELEMENTWISE_OP_H

#include "tape/tape_core.h"

/* rapt_op_add; `overwrite`: in b's memory. */
rapt_tensor *elementwise_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool overwrite);

#endif
