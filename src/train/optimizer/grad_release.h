/* train/optimizer/grad_release.h (internal): fused backward pass and update (LOMO: Lv et al. 2023): the optimizer's step is made
 * for a parameter as soon as its gradient is complete, and the gradient's memory then serves for others. For
 * train.release_gradients.
 *
 * A counting pass shows when each gradient is first added to, and when it is complete; gradients whose times overlap get separate
 * places in one array. The results are what rapt_backward, rapt_grad_norm and rapt_adam_step give, to the bit. Gradients of
 * sparse parameters have their own memory and are used at the end of the pass. */
#ifndef TRAIN_OPTIMIZER_GRAD_RELEASE_H
#define TRAIN_OPTIMIZER_GRAD_RELEASE_H

#include "rapt/train.h"

typedef struct grad_release grad_release;

/* For passes of `t`, which releases gradients from now on (tape_release_gradients). All are borrowed. NULL: out of memory. */
grad_release *grad_release_new(rapt_tape *t, rapt_params *set, rapt_error *err);
/* NULL is fine. The parameters then have no gradient memory; free it before the tape. */
void grad_release_free(grad_release *r);

/* The training pass from here to grad_release_learnt, which is only counted (tape_count), shows when gradients are complete. */
void grad_release_learn(grad_release *r);
void grad_release_learnt(grad_release *r);
/* The bytes that gradients take by what was learnt, sparse parameters included. */
size_t grad_release_bytes(const grad_release *r);
/* Gives the parameters of `set` their places; from now on it is the set of all passes. It may be another one of the same model
 * than that with which was learnt. RAPT_ERR_MEMORY: out of memory. */
rapt_code grad_release_place(grad_release *r, rapt_params *set, rapt_error *err);

/* Before the forward pass: the next backward pass makes rapt_adam_step(adam, t, lr, grad_scale). adam NULL: it only computes the
 * norm, and changes no parameter. */
void grad_release_begin(grad_release *r, rapt_adam *adam, double lr, double grad_scale);
/* After the backward pass, which returned `code`: finishes the step and clears all gradients. *norm: what rapt_grad_norm returns.
 * Returns `code`, or fails as rapt_adam_step does. RAPT_ERR_NOT_FINITE: see grad_release_bad; with `adam`, parameters have
 * changed, and the run cannot continue. */
rapt_code grad_release_end(grad_release *r, rapt_code code, double *norm, rapt_error *err);
/* The name of the parameter whose gradient was not finite in the last pass; NULL: none. */
const char *grad_release_bad(const grad_release *r);

#endif
