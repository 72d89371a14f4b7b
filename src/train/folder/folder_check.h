/* train/folder/folder_check.h: what a model folder holds before a run begins in it. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_FOLDER_CHECK_H
#define TRAIN_FOLDER_FOLDER_CHECK_H

#include "train/run.h"

/* Finds the newest checkpoint. Refuses a new run whose files would replace some that are there, and a resumed one where a run was
 * trained of which no checkpoint is left. What cannot be read is an error (RAPT_ERR_IO). */
rapt_code folder_check(run *r, rapt_error *err);

#endif
