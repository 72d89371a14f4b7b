/* train/ranks/run_moments.h: the moments of a run, for its checkpoints. */
#ifndef TRAIN_RANKS_RUN_MOMENTS_H
#define TRAIN_RANKS_RUN_MOMENTS_H

#include "train/checkpoint/moments.h"
#include "train/run.h"

/* Borrows from the run. */
moments run_moments(const run *r);

#endif
