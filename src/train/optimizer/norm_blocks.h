/* train/optimizer/norm_blocks.h (internal): the blocks of rows over which rapt_grad_norm sums squares, as a list: each of the
 * processes that share a step owns some blocks. For the steps of a group, and for adam_owned.c.
 *
 * Every process has the whole gradients of sparse parameters and does all the work for them. No gradient may be deferred
 * (tape_defer_gradients). */
#ifndef TRAIN_OPTIMIZER_NORM_BLOCKS_H
#define TRAIN_OPTIMIZER_NORM_BLOCKS_H

#include "tape/tape_core.h"
#include "train/optimizer/param_slices.h"

/* Rows first .. first + rows - 1 of parameter `param` of the set; a vector has rows of one element. */
typedef struct norm_block {
    uint32_t param;
    size_t first, rows;
} norm_block;

/* The blocks of all trained dense parameters, in their order. */
typedef struct norm_blocks {
    norm_block *list;
    size_t count;
} norm_blocks;

/* RAPT_ERR_MEMORY: out of memory; there is nothing to free. */
rapt_code norm_blocks_make(norm_blocks *b, const rapt_params *set, rapt_error *err);
void norm_blocks_free(norm_blocks *b);

/* The elements of a row of p, as blocks count rows. */
size_t norm_block_width(const rapt_param *p);

/* Sets sums[i] to the sum of squares of the gradient in block i (0 if its parameter has no gradient) for each block with owned[i]
 * (NULL: for all); leaves other sums alone. */
void norm_blocks_sum(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const uint8_t *owned, double *sums);
/* The result of rapt_grad_norm, to the bit, from the sums of all blocks. If a parameter has a gradient on any process,
 * value.grad_filled must be set on every process. */
double norm_blocks_norm(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const double *sums);

/* ---- grad_norm.c: one slice of rapt_grad_norm. For norm_blocks.c, with which processes share the work, and grad_release.c. */

/* Sets p->sum to the sum over its blocks; `worker` as in pool_fn. */
void grad_norm_slice(const rapt_tape *t, param_slice *p, int worker);
/* Sets p->sum likewise; the rows of the slice are in `chunk` (NULL: in the parameter's own gradient). */
void grad_norm_chunk(const rapt_tape *t, param_slice *p, const rapt_real *chunk);

#endif
