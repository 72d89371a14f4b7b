/* ops/linear_observed.h: the name and formula of a linear layer's result. For linear_op.c. */
#ifndef OPS_LINEAR_OBSERVED_H
#define OPS_LINEAR_OBSERVED_H

#include "tape/observe_op.h"

/* Hands over y = x w^T + b as what the layer is in its module, by its weight's name; nothing where that is of no such layer.
 * `memory`: x is not what the layers beside it compute from, but what is attended to. Returns y. */
rapt_tensor *linear_observe(rapt_tape *t, const rapt_linear_args *in, bool memory, rapt_tensor *y);

#endif
