/* ops/linear_parts.h: what a linear layer is made of besides its products, and products of its matrix alone and
 * of its adapters. For linear_op.c, lora_op.c and dora_op.c. */
#ifndef OPS_LINEAR_PARTS_H
#define OPS_LINEAR_PARTS_H

#include "tape/observe_op.h"
#include "tape/tape_core.h"

/* ---- activation.c: activation functions for the operations that fuse one. Not ReLU:
 * rapt_op_relu and the GEMM epilogue compute it. */

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

/* ---- linear_op.c */

/* y [rows, out] = x w^T for x [rows, in], reading w as a layer's forward pass does. */
void linear_product(rapt_tape *t, rapt_param *w, size_t rows, const rapt_real *x, rapt_real *y);

/* ---- lora_op.c: products of adapters. */

/* c, the result of a product, and what linear_scale multiplies each of its elements by. */
typedef struct linear_scaling {
    rapt_real *c, scale;
} linear_scaling;

/* Scales elements at .. at + n - 1 of a linear_scaling: a gemm_epilogue_fn. */
void linear_scale(const kernels *k, const void *scaling, size_t at, size_t n);

/* ---- linear_observed.c: the name and formula of a linear layer's result. */

/* Observes y = x w^T + b under the name of the layer in its module, which the weight's name tells; does nothing if the layer is
 * unknown. `memory`: x is the sequence that is attended to, not the query sequence. Returns y. */
rapt_tensor *linear_observe(rapt_tape *t, const rapt_linear_args *in, bool memory, rapt_tensor *y);

#endif
