/* train/folder/folder_begin.h: the beginning of a run in its folder. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_FOLDER_BEGIN_H
#define TRAIN_FOLDER_FOLDER_BEGIN_H

#include "train/run.h"

/* ---- folder_write.c: writes what the model folder holds before the first step: configuration, tokenizers, recipe, and the
 * task's files. */

/* Makes the text of the recipe that the folder will keep: the run's recipe with absolute paths. Writes nothing. */
rapt_code folder_write_prepare(run *r, rapt_error *err);

/* Removes what killed runs have left, and writes. This is the first change of the folder, after all checks. */
rapt_code folder_write(run *r, rapt_error *err);

/* ---- resume.c: the beginning of a run: at zero, or at the newest checkpoint of its folder. */

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
