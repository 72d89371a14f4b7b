/* ops/activation.h: activations as the operations that end with one see them. For activation.c and linear.c.
 * Not ReLU alone: rapt_relu has it, and the matrix product's tail. */
#ifndef OPS_ACTIVATION_H
#define OPS_ACTIVATION_H

#include "ops/tape.h"

/* One that is no name of rapt_activation. */
bool activation_unknown(rapt_activation a);

/* GELU and the like, which need more than a maximum: activation_run computes them. */
bool activation_curved(rapt_activation a);

/* y = activation(x) for n numbers on all threads, and its derivative at x to `slope` unless it is NULL. y or slope
 * may be x. */
void activation_run(rapt_tape *t, rapt_activation a, size_t n, const rapt_real *x, rapt_real *y, rapt_real *slope);

#endif
