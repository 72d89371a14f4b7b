/* ops/activation.h: activations as the operations that end with one see them. For activation.c and linear_op.c.
 * Not ReLU alone: rapt_op_relu has it, and the matrix product's epilogue. */
#ifndef OPS_ACTIVATION_H
#define OPS_ACTIVATION_H

#include "tape/tape_core.h"

/* One that is no name of rapt_activation. */
bool activation_unknown(rapt_activation a);

/* GELU and the like, which need more than a maximum: activation_piece computes them. */
bool activation_curved(rapt_activation a);

/* y = activation(x), and its derivative at x to `slope` unless that is NULL. y or slope may be x. */
typedef struct activation_run {
    rapt_activation activation; /* a curved one */
    const rapt_real *x;
    rapt_real *y, *slope;
} activation_run;

/* Numbers at .. at + n - 1 of an activation_run: a gemm_epilogue_fn. */
void activation_piece(const kernels *k, const void *run, size_t at, size_t n);

#endif
