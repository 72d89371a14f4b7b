/* train/optimizer/sgd.h (internal): options of SGD, from a caller or a recipe, and a step's constants. For adam.c, which has the
 * momentum, and for what must know how much memory it takes. */
#ifndef TRAIN_OPTIMIZER_SGD_H
#define TRAIN_OPTIMIZER_SGD_H

#include "rapt/train.h"

#include "kernels/kernels.h"

/* Copies the options over the defaults; NULL: the defaults. RAPT_ERR_VALUE: as in rapt_sgd_new. */
rapt_code sgd_take_options(const rapt_sgd_options *given, rapt_sgd_options *o, rapt_error *err);
/* Whether a recipe's optimizer is SGD; *o gets its options. */
bool sgd_of_recipe(const rapt_recipe *k, rapt_sgd_options *o);
/* The constants of a step for a parameter that decays or not; gradients are multiplied by `grad_scale`. */
kernels_sgd sgd_coefficients(const rapt_sgd_options *o, double lr, double grad_scale, bool decays);

#endif
