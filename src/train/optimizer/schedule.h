/* train/optimizer/schedule.h: the learning rate of a step, in a run whose reports may reduce it. */
#ifndef TRAIN_OPTIMIZER_SCHEDULE_H
#define TRAIN_OPTIMIZER_SCHEDULE_H

#include "rapt/train.h"

/* rapt_learning_rate after `reductions` reports at which the plateau schedule has reduced it; other schedules know none. */
double schedule_rate(const rapt_recipe *r, uint64_t step, uint64_t total, uint64_t reductions);

#endif
