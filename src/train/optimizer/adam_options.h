/* train/optimizer/adam_options.h (internal): takes Adam's options from a caller, and gives a step's constants. For adam.c and
 * adam_step.c. */
#ifndef TRAIN_OPTIMIZER_ADAM_OPTIONS_H
#define TRAIN_OPTIMIZER_ADAM_OPTIONS_H

#include "rapt/train.h"

#include "kernels/kernels.h"

/* What an optimizer is made of: Adam, with `muon` only for the parameters that Muon doesn't take; or SGD. */
typedef struct optimizer_options {
    const rapt_adam_options *adam; /* NULL: the defaults; not used with `sgd` */
    const rapt_muon_options *muon; /* NULL: no Muon */
    const rapt_sgd_options *sgd;   /* NULL: no SGD; else `muon` is NULL */
} optimizer_options;

/* The constants of a step for a parameter. */
typedef struct step_constants {
    kernels_adam adam;
    kernels_sgd sgd;
} step_constants;

/* Copies the options over the defaults; NULL: the defaults. RAPT_ERR_VALUE: as in rapt_adam_new. */
rapt_code adam_take_options(const rapt_adam_options *given, rapt_adam_options *o, rapt_error *err);

/* The constants of step `steps` (from 1), without weight decay; gradients are multiplied by `grad_scale`. */
kernels_adam adam_coefficients(const rapt_adam_options *o, uint64_t steps, double lr, double grad_scale);

#endif
