/* train/first_loss.h: whether a model is initialized such that training can begin. For the loop in train.c. */
#ifndef TRAIN_FIRST_LOSS_H
#define TRAIN_FIRST_LOSS_H

#include "train/run.h"

/* After the passes of the first step, warns if the loss is more than 1.1 ln V (for a small vocabulary, ln V + 0.7), where V is
 * the target vocabulary size: a model that knows nothing has ln V. Does not warn if the run starts from another model, because
 * its data may be of any kind. */
void first_loss_check(const run *r);

#endif
