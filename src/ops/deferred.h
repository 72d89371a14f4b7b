/* ops/deferred.h: deferred weight gradients dw = dy^T x: the operands are kept, and rows of dw are computed when they are
 * used. For the operation that records them (rapt_op_output_loss), and the optimizer and the gradient norm, which compute a
 * few rows at a time. */
#ifndef OPS_DEFERRED_H
#define OPS_DEFERRED_H

#include "tape/tape_core.h"

/* Allows deferred gradients, or not: the caller promises that between a backward pass and the next pass only rapt_grad_norm
 * and rapt_adam_step read gradients, so that dw of a large matrix and few rows is never stored. For a training loop. */
void tape_defer_gradients(rapt_tape *t, bool on);

/* Says that a gradient is used once, as soon as it is complete, and its memory is released (train/optimizer/grad_release.h): then
 * gradients are deferred wherever the operands take less memory, even if an embedding shares the matrix. */
void tape_release_gradients(rapt_tape *t, bool on);

/* Reads n elements once, front to back: a software prefetch for a GEMM that is about to use them. A tile of a GEMM reads many
 * rows at once, which the hardware prefetcher does not predict: memory latency was a third of its time. */
static inline void deferred_prefetch(const rapt_real *x, size_t n)
{
    for (size_t i = 0; i < n; i += KERNELS_ALIGN / sizeof *x)
        (void)*(const volatile rapt_real *)(x + i);
}

/* Whether a gradient with rows of `in` elements can be deferred: a chunk of it fits into a worker's memory. */
bool deferred_fits(const rapt_tape *t, size_t in);
/* If p's gradient is deferred in this pass and takes rows, defers the addition of scale[i] times row i of dy [count, in] to row
 * ids[i], too, and returns true. ids[i] below 0: not added. `ids` and `scale` must last as long as the pass; dy is copied. */
bool deferred_add_rows(rapt_tape *t, rapt_param *p, size_t count, const int32_t *ids, const rapt_real *scale,
                       const rapt_real *dy);
/* RAPT_ERR_VALUE with a message that names the parameter: the operands of its deferred gradient were released. */
rapt_code deferred_check(const rapt_tape *t, const rapt_param *p, rapt_error *err);
/* Computes rows first .. first + count - 1 of p's deferred gradient into the memory that the worker packs into: up to 64 rows, or
 * rows of 32,768 elements together. The bits of a row don't depend on the rows that are computed with it. */
const rapt_real *deferred_chunk(const rapt_tape *t, int worker, const rapt_param *p, size_t first, size_t count);
/* Computes all of p's deferred gradient and adds it to value.grad; does nothing if there is none. Fails as deferred_check
 * does. */
rapt_code deferred_settle(rapt_tape *t, rapt_param *p, rapt_error *err);

#endif
