/* ops/linear_observed.h: the name and formula of a linear layer's result. For linear_op.c. */
#ifndef OPS_LINEAR_OBSERVED_H
#define OPS_LINEAR_OBSERVED_H

#include "tape/observe_op.h"

/* Observes y = x w^T + b under the name of the layer in its module, which the weight's name tells; does nothing if the layer is
 * unknown. `memory`: x is the sequence that is attended to, not the query sequence. Returns y. */
rapt_tensor *linear_observe(rapt_tape *t, const rapt_linear_args *in, bool memory, rapt_tensor *y);

#endif
