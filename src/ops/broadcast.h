/* ops/broadcast.h: the sum of tensors whose shapes differ. For rapt_op_add. */
#ifndef OPS_BROADCAST_H
#define OPS_BROADCAST_H

#include "tape/tape_core.h"

/* rapt_op_add of shapes that are not equal. */
rapt_tensor *broadcast_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b);

#endif
