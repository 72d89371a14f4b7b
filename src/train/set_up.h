/* train/set_up.h: makes the tape, the model and the optimizer of a run. For train.c. */
#ifndef TRAIN_SET_UP_H
#define TRAIN_SET_UP_H

#include "train/run.h"

rapt_code set_up_tape(run *r, rapt_error *err);
/* The model with shapes only (RAPT_SEED_SHAPES), to count the memory of the run; one that --init has loaded has its elements.
 * Freezes the parameters of train.freeze. */
rapt_code set_up_shapes(run *r, rapt_error *err);
/* The model with its elements. */
rapt_code set_up_parameters(run *r, rapt_error *err);
/* The moments, the number of steps, and the task's batch buffers. */
rapt_code set_up_optimizer(run *r, rapt_error *err);

#endif
