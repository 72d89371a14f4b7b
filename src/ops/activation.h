/* ops/activation.h: activation functions for the operations that fuse one. For activation.c and linear_op.c. Not ReLU:
 * rapt_op_relu and the GEMM epilogue compute it. */
#ifndef OPS_ACTIVATION_H
#define OPS_ACTIVATION_H

#include "tape/tape_core.h"

/* Whether it is not a value of rapt_activation. */
bool activation_unknown(rapt_activation a);

/* Whether it is a smooth activation (GELU, SiLU), which activation_elements computes: neither identity nor ReLU. */
bool activation_smooth(rapt_activation a);

/* y = activation(x), and its derivative at x to `slope` unless that is NULL. y or slope may be x. */
typedef struct activation_run {
    rapt_activation activation; /* a smooth one */
    const rapt_real *x;
    rapt_real *y, *slope;
} activation_run;

/* Applies an activation_run to elements at .. at + n - 1: a gemm_epilogue_fn. */
void activation_elements(const kernels *k, const void *run, size_t at, size_t n);

#endif
