/* train/optimizer/adam_owned.h (internal): a step of an optimizer that processes share: each makes it for the blocks that it
 * owns, and for all sparse parameters. For the steps of a group. */
#ifndef TRAIN_OPTIMIZER_ADAM_OWNED_H
#define TRAIN_OPTIMIZER_ADAM_OWNED_H

#include "rapt/train.h"
#include "train/optimizer/adam_options.h"
#include "train/optimizer/norm_blocks.h"

/* rapt_adam_new, rapt_muon_new or rapt_sgd_new for an optimizer that makes steps for some blocks only: moments of other blocks
 * are never touched, so they are not resident. */
rapt_adam *adam_owned_new(rapt_params *set, optimizer_options options, rapt_error *err);

/* A step that has begun. */
typedef struct adam_owned {
    rapt_adam *adam;
    rapt_tape *tape;
    const norm_blocks *blocks;
    step_constants vector, matrix;
    double lr, grad_scale;
} adam_owned;

/* Begins the step that rapt_adam_step(adam, t, lr, grad_scale) makes, and makes it for sparse parameters. Errors as in
 * rapt_adam_step, and RAPT_ERR_VALUE: a gradient is deferred. */
rapt_code adam_owned_begin(adam_owned *s, rapt_adam *adam, rapt_tape *t, double lr, double grad_scale, const norm_blocks *b,
                           rapt_error *err);
/* Makes the step for `count` blocks, given by their numbers in the list of blocks, each at most once a step. Blocks of a
 * parameter without a gradient (value.grad_filled) do not change. It is faster if adjacent blocks follow each other. All blocks
 * of a matrix that Muon moves belong to one process, and to one call. */
void adam_owned_move(const adam_owned *s, const uint32_t *list, size_t count);

#endif
