/* train/folder/lengthen.h: a run that is resumed with another number of epochs or steps. For the set-up in train.c. */
#ifndef TRAIN_FOLDER_LENGTHEN_H
#define TRAIN_FOLDER_LENGTHEN_H

#include "train/run.h"

/* The steps that a recipe plans for the data of this run. */
uint64_t lengthen_steps(const run *r, const rapt_recipe *recipe);

/* recipe_hash_first of the run with the length that its folder's recipe has: what a checkpoint of version 0.1 holds. */
uint64_t lengthen_first_hash(const run *r);

/* Once the newest checkpoint is loaded, and while the folder still has the recipe of before: refuses to plan fewer steps than
 * are done, and warns where other steps than before change the learning rate, or where there is nothing to do. */
rapt_code lengthen_check(run *r, rapt_error *err);

#endif
