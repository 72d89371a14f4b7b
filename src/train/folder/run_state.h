/* train/folder/run_state.h: the counters of a run as a checkpoint has them. For the loop in train.c, and for resume.c. */
#ifndef TRAIN_FOLDER_RUN_STATE_H
#define TRAIN_FOLDER_RUN_STATE_H

#include "train/checkpoint/checkpoint.h"
#include "train/run.h"

/* `seconds`: how long the run has taken, with this call. */
checkpoint_state run_state_of(const run *r, double seconds);
/* Takes the counters of a checkpoint. */
void run_state_take(run *r, const checkpoint_state *s);

#endif
