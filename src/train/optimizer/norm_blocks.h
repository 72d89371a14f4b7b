/* train/optimizer/norm_blocks.h (internal): the blocks of rows that rapt_grad_norm sums squares of, as a list: processes that
 * share the work of a step own some blocks each. For the steps of a group, and for adam_owned.c.
 *
 * Gradients of sparse parameters are whole on every process, and so is the work for them. None may be deferred
 * (tape_defer_gradients). */
#ifndef TRAIN_OPTIMIZER_NORM_BLOCKS_H
#define TRAIN_OPTIMIZER_NORM_BLOCKS_H

#include "tape/tape_core.h"

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

/* RAPT_ERR_MEMORY: out of memory; nothing has to be freed then. */
rapt_code norm_blocks_make(norm_blocks *b, const rapt_params *set, rapt_error *err);
void norm_blocks_free(norm_blocks *b);

/* The elements of a row of p, as blocks count rows. */
size_t norm_block_width(const rapt_param *p);

/* sums[i]: the sum of squares of the gradient in block i, 0 where its parameter has no gradient, for each block with owned[i]
 * (NULL: all of them); other sums are left alone. */
void norm_blocks_sum(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const uint8_t *owned, double *sums);
/* What rapt_grad_norm returns, to the bit, from the sums of all blocks. Where a parameter has a gradient on any process,
 * value.grad_filled must say so on every one. */
double norm_blocks_norm(rapt_tape *t, const rapt_params *set, const norm_blocks *b, const double *sums);

#endif
