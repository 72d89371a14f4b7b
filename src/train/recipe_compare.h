/* train/recipe_compare.h: what two recipes have in common. */
#ifndef TRAIN_RECIPE_COMPARE_H
#define TRAIN_RECIPE_COMPARE_H

#include "train/recipe_keys.h"

bool recipe_key_differs(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b);

/* Of the keys that decide what is learned and are not at their default: a key that comes later changes no hash. The places
 * of files don't count: what is in them is the task's to hash. */
uint64_t recipe_hash(const rapt_recipe *r);

/* The first of the keys that decide what is learned in which two recipes differ; NULL where there is none. */
const recipe_key *recipe_first_difference(const rapt_recipe *a, const rapt_recipe *b);

#endif
