/* train/optimizer/muon.h (internal): steps of Muon (Jordan et al. 2024): momentum, made orthogonal by Newton-Schulz iterations.
 * For adam.c, which makes Adam's steps for all other parameters, and for what must know which parameters those are. */
#ifndef TRAIN_OPTIMIZER_MUON_H
#define TRAIN_OPTIMIZER_MUON_H

#include "rapt/train.h"

/* A matrix that is to move, and its momentum, in its shape. */
typedef struct muon_matrix {
    rapt_param *param;
    rapt_real *momentum;
} muon_matrix;

typedef struct muon_state {
    rapt_muon_options options;
    size_t room;       /* elements of `memory` */
    rapt_real *memory; /* for the products of a few matrices, aligned to KERNELS_ALIGN */
} muon_state;

/* Copies the options over the defaults; NULL: the defaults. RAPT_ERR_VALUE: as in rapt_muon_new. */
rapt_code muon_take_options(const rapt_muon_options *given, rapt_muon_options *o, rapt_error *err);
/* Whether a recipe's optimizer is Muon; *o gets its options. */
bool muon_of_recipe(const rapt_recipe *k, rapt_muon_options *o);
/* Whether Muon moves the parameter: a dense matrix whose name fits, no adapter. Buffers and frozen ones, too, would fit. */
bool muon_takes(const rapt_muon_options *o, const rapt_param *p);
/* The elements of muon_state.memory that steps of any of the set's matrices need. */
size_t muon_room(const rapt_muon_options *o, const rapt_params *set);

/* Makes a step for each matrix of a list, whose gradient is not deferred. `lr` is Adam's learning rate; gradients are multiplied
 * by `grad_scale`. The bits do not depend on which matrices a call has. */
void muon_step(const muon_state *m, rapt_tape *t, double lr, double grad_scale, const muon_matrix *list, size_t count);

#endif
