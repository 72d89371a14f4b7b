/* train/optimizer/grad_norm.h (internal): one slice of rapt_grad_norm. For norm_blocks.c, with which processes share the work. */
#ifndef TRAIN_OPTIMIZER_GRAD_NORM_H
#define TRAIN_OPTIMIZER_GRAD_NORM_H

#include "train/optimizer/param_slices.h"

/* Sets p->sum to the sum over its blocks; `worker` as in pool_fn. */
void grad_norm_slice(const rapt_tape *t, param_slice *p, int worker);

#endif
