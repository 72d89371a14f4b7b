/* train/ranks/ranks_plan.h: the memory plan of a run of several processes. For the set-up in train.c. */
#ifndef TRAIN_RANKS_RANKS_PLAN_H
#define TRAIN_RANKS_RANKS_PLAN_H

#include "train/run.h"

/* With a group: tells options->on_plan of rank 0 the most that any process takes, from the plans of all (run.plan). */
rapt_code ranks_tell_plan(run *r, rapt_error *err);

#endif
