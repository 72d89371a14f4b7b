/* train/folder/folder_check.h: checks a model folder before a run begins in it. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_FOLDER_CHECK_H
#define TRAIN_FOLDER_FOLDER_CHECK_H

#include "train/run.h"

/* Finds the newest checkpoint. Refuses a new run whose files would replace existing ones, and a resumed run if a run was trained
 * there but none of its checkpoints is left. A folder or file that cannot be read is an error (RAPT_ERR_IO). */
rapt_code folder_check(run *r, rapt_error *err);

/* Refuses a new run whose model brings files of a Hugging Face folder that would replace existing ones. */
rapt_code folder_check_files(run *r, rapt_error *err);

/* Fails with RAPT_ERR_VALUE: the folder holds `name`, from a run whose checkpoints are missing. */
rapt_code folder_check_no_checkpoint(const run *r, const char *name, rapt_error *err);

#endif
