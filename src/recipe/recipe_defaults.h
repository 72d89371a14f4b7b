/* recipe/recipe_defaults.h: default values of keys: by the task, and for a few keys by other keys. For recipe.c,
 * recipe_read.c and recipe_write.c. The table of keys itself is recipe_keys.h. */
#ifndef RECIPE_RECIPE_DEFAULTS_H
#define RECIPE_RECIPE_DEFAULTS_H

#include "recipe/recipe_keys.h"

/* Fills `out` with the defaults of a recipe, which depend on its task and on some of its keys. */
void recipe_defaults_of(const rapt_recipe *r, rapt_recipe *out);
/* Fills `out` with the defaults of a recipe that sets only its task. */
void recipe_defaults_of_task(rapt_task task, rapt_recipe *out);
/* The defaults of version 0.1, for both tasks, on which a checkpoint's hash is based. Frees nothing. */
void recipe_defaults_first(rapt_recipe *out);

/* Sets one key, as recipe_key_set does, and updates the defaults of keys that are not given. */
rapt_code recipe_defaults_set(const recipe_key *key, rapt_recipe *recipe, const char *text, char reason[RECIPE_REASON]);

#endif
