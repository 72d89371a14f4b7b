/* tape/grad_bf16.h: gradients that are stored in bf16 between passes (tensor/params.h, params_store_gradients_bf16). An operation
 * gets memory in fp32, as for any gradient; when its backward pass is done, that is rounded into the store. For tape_backward.c.
 * A gradient that several operations add to is rounded after each of them. */
#ifndef TAPE_GRAD_BF16_H
#define TAPE_GRAD_BF16_H

#include "tape/tape_core.h"

/* tape_grad for such a gradient: scratch memory, which holds the stored gradient if that is already a sum. */
rapt_real *grad_bf16_open(rapt_tape *t, rapt_tensor *x, bool *accumulate);
/* The node's backward pass is done: rounds and stores all that it has opened. */
void grad_bf16_close(rapt_tape *t);

#endif
