/* recipe/recipe_compare.h: what two recipes have in common. */
#ifndef RECIPE_RECIPE_COMPARE_H
#define RECIPE_RECIPE_COMPARE_H

#include "recipe/recipe_keys.h"

/* Whether the model that a run starts from (train.init) decides this key: all of the groups `model` and `tokenizer` but the three
 * dropouts and model.context. Of a recipe with train.init none of them counts below. */
bool recipe_key_of_init(const recipe_key *key);

/* Of the keys that decide what is learned and are not at their first default: a key or a default that comes later changes no
 * hash. The places of files don't count: what is in them is the task's to hash. Nor does how long a run is, which may be trained
 * longer. */
uint64_t recipe_hash(const rapt_recipe *r);
/* The same with train.epochs and train.steps, and with all keys where there is a train.init, as version 0.1 had it. */
uint64_t recipe_hash_first(const rapt_recipe *r);

/* The first of the keys that decide what is learned in which two recipes differ; NULL where there is none. */
const recipe_key *recipe_first_difference(const rapt_recipe *a, const rapt_recipe *b);

#endif
