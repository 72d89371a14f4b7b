/* nn/linear.h: linear layers with adapters inside of fused modules: attention and feed-forward networks. */
#ifndef NN_LINEAR_H
#define NN_LINEAR_H

#include "rapt/nn.h"

/* What rapt_op_linear needs of m for x; without the bias, if it is added after m's adapter. */
static inline rapt_linear_args linear_args(const rapt_linear *m, rapt_tensor *x)
{
    return (rapt_linear_args){x, m->weight, m->lora && m->lora->magnitude ? NULL : m->bias};
}

/* Adds the result of m's adapter to y, which is the result of linear_args(m, x) and which no other operation has read. Returns
 * y itself if there is no adapter. */
rapt_tensor *linear_adapt(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_tensor *y);

/* linear_adapt for `count` layers; y[i] is the result of linear_args(m[i], x[i]). Adjacent layers that share a matrix A are one
 * module of the reference, so dropout is applied once to the input of A (nn/lora.h). */
void linears_adapt(rapt_tape *t, size_t count, const rapt_linear *const *m, rapt_tensor *const *x, rapt_tensor **y);

/* activation(rapt_linear_forward), in one pass if there is no adapter. */
rapt_tensor *linear_activated(rapt_tape *t, const rapt_linear *m, rapt_tensor *x, rapt_activation activation);

#endif
