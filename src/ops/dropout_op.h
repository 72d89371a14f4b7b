/* ops/dropout_op.h: dropout inside of another operation. For those that add what it leaves to something else. */
#ifndef OPS_DROPOUT_OP_H
#define OPS_DROPOUT_OP_H

#include "tape/tape_core.h"

/* rapt_op_dropout; `overwrite`: in x's memory. Nothing is observed. */
rapt_tensor *dropout_run(rapt_tape *t, rapt_tensor *x, double p, bool overwrite);

#endif
