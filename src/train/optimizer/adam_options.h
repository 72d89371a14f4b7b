/* train/optimizer/adam_options.h (internal): takes Adam's options from a caller. For adam.c. */
#ifndef TRAIN_OPTIMIZER_ADAM_OPTIONS_H
#define TRAIN_OPTIMIZER_ADAM_OPTIONS_H

#include "rapt/train.h"

/* Copies the options over the defaults; NULL: the defaults. RAPT_ERR_VALUE: as in rapt_adam_new. */
rapt_code adam_take_options(const rapt_adam_options *given, rapt_adam_options *o, rapt_error *err);

#endif
