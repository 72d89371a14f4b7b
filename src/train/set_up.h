/* train/set_up.h: what computes in a run: tape, model, optimizer. For train.c. */
#ifndef TRAIN_SET_UP_H
#define TRAIN_SET_UP_H

#include "train/run.h"

rapt_code set_up_tape(run *r, rapt_error *err);
/* The model without memory for its elements (RAPT_SEED_SHAPES), to count what the run will take; one that --init has loaded is
 * there whole. Freezes what the recipe says. */
rapt_code set_up_shapes(run *r, rapt_error *err);
/* The model with its elements. */
rapt_code set_up_parameters(run *r, rapt_error *err);
/* Moments, the number of steps, and what the task's batches are read into. */
rapt_code set_up_optimizer(run *r, rapt_error *err);

#endif
