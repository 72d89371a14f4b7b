/* train/folder/lengthen.h: a run that is resumed with another number of epochs or steps. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_LENGTHEN_H
#define TRAIN_FOLDER_LENGTHEN_H

#include "train/run.h"

/* The steps that a recipe plans for the data of this run. */
uint64_t lengthen_steps(const run *r, const rapt_recipe *recipe);

/* recipe_hash_first of the run with the length in its folder's recipe: the hash in a checkpoint of version 0.1. */
uint64_t lengthen_first_hash(const run *r);

/* Call it when the newest checkpoint is loaded and the folder still has the earlier recipe. Refuses to plan fewer steps than are
 * done. Warns if the new number of steps changes the learning rate, or if there is nothing to do. */
rapt_code lengthen_check(run *r, rapt_error *err);

#endif
