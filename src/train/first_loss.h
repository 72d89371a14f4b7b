/* train/first_loss.h: whether a model is initialized such that training can begin. For the loop in train.c. */
#ifndef TRAIN_FIRST_LOSS_H
#define TRAIN_FIRST_LOSS_H

#include "train/run.h"

/* After the passes of the first step: warns where the loss is more than 1.1 ln V (of a small vocabulary, ln V + 0.7), V being the
 * entries of the target vocabulary: a model that knows nothing has ln V. Not of a run that starts from another model, whose
 * data may be of any kind. */
void first_loss_check(const run *r);

#endif
