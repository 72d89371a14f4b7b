/* ops/dropout_op.h: dropout as part of another operation, such as the residual connection. */
#ifndef OPS_DROPOUT_OP_H
#define OPS_DROPOUT_OP_H

#include "tape/tape_core.h"

/* rapt_op_dropout, without observation; `overwrite`: in x's memory. */
rapt_tensor *dropout_run(rapt_tape *t, rapt_tensor *x, double p, bool overwrite);

#endif
