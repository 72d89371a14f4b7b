/* train/folder/resume.h: the beginning of a run: at zero, or at the newest checkpoint of its folder. For the set-up in
 * train.c. */
#ifndef TRAIN_FOLDER_RESUME_H
#define TRAIN_FOLDER_RESUME_H

#include "train/run.h"

/* Gives the run its hash and its counters. If folder_check has found a checkpoint, loads its parameters, moments and counters; a
 * run that stopped before its first checkpoint starts again. RAPT_ERR_VALUE, with the key that differs if it is known: the
 * checkpoint belongs to another run. Writes nothing. */
rapt_code resume_begin(run *r, rapt_error *err);

/* Drops lines of the log that the checkpoint does not know. This is the first change of a resumed folder. */
rapt_code resume_rewind_log(run *r, rapt_error *err);

/* Whether the folder already has this model, and the checkpoint that it was loaded from is of the current step: then there is
 * nothing to save. */
bool resume_model_is_saved(const run *r);

#endif
