/* nn/linear.h: linear layers with adapters inside of fused modules: attention and feed-forward networks. */
#ifndef NN_LINEAR_H
#define NN_LINEAR_H

#include "rapt/nn.h"

/* Adds to y, the result of layer m for x that no other operation has read, what m's adapter gives; y itself without one. */
rapt_tensor *linear_adapt(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_tensor *y);

/* The same for `count` layers; y[i] is the result of layer m[i] for x[i]. Of neighbors that share a matrix A, one module of the
 * reference, the input of A is dropped once (nn/lora.h). */
void linears_adapt(rapt_tape *t, size_t count, const rapt_linear *const *m, rapt_tensor *const *x, rapt_tensor **y);

/* activation(rapt_linear_forward), in one pass where there is no adapter. */
rapt_tensor *linear_activated(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_activation activation);

#endif
