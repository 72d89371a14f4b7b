/* train/folder/folder_write.h: writes what the model folder holds before the first step: configuration, tokenizers, recipe, and
 * the task's files. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_FOLDER_WRITE_H
#define TRAIN_FOLDER_FOLDER_WRITE_H

#include "train/run.h"

/* Makes the text of the recipe that the folder will keep: the run's recipe with absolute paths. Writes nothing. */
rapt_code folder_write_prepare(run *r, rapt_error *err);

/* Removes what killed runs have left, and writes. This is the first change of the folder, after all checks. */
rapt_code folder_write(run *r, rapt_error *err);

#endif
