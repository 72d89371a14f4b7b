/* train/folder/resume.h: where a run begins: at zero, or with the newest checkpoint of its folder. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_RESUME_H
#define TRAIN_FOLDER_RESUME_H

#include "train/run.h"

/* Gives the run its hash and its counters, and where folder_check has found a checkpoint, loads that: parameters, moments,
 * counters. A run that stopped before its first checkpoint starts again. RAPT_ERR_VALUE, with the key that differs where it is
 * known: the checkpoint is of another run. Writes nothing. */
rapt_code resume_begin(run *r, rapt_error *err);

/* Drops lines of the log that the checkpoint knows nothing of. The first change of a folder that is resumed. */
rapt_code resume_rewind_log(run *r, rapt_error *err);

/* Whether the folder has this very model, and the checkpoint that it was loaded from is of the step at hand: then there is
 * nothing to save. */
bool resume_model_is_saved(const run *r);

#endif
