/* train/folder/folder_check.h: what a model folder holds before a run begins in it. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_FOLDER_CHECK_H
#define TRAIN_FOLDER_FOLDER_CHECK_H

#include "train/run.h"

/* Finds the newest checkpoint. Refuses a new run whose files would replace some that are there, and a resumed one where a run was
 * trained of which no checkpoint is left. What cannot be read is an error (RAPT_ERR_IO). */
rapt_code folder_check(run *r, rapt_error *err);

/* Refuses a new run whose model comes with files, of a Hugging Face folder, that would replace some that are there. */
rapt_code folder_check_files(run *r, rapt_error *err);

/* Fails: the folder holds `name`, of a run whose checkpoints are not there (RAPT_ERR_VALUE). */
rapt_code folder_check_no_checkpoint(const run *r, const char *name, rapt_error *err);

#endif
