/* recipe/recipe_read.h: recipes from YAML text in memory; behind rapt_recipe_read, and for the fuzzer and for
 * a recipe that was stored beside a model, whose paths hold as they are. */
#ifndef RECIPE_RECIPE_READ_H
#define RECIPE_RECIPE_READ_H

#include "rapt/recipe.h"

/* `path` is for messages only: data.pairs stays as written. `*out` as with rapt_recipe_read.
 * `former_names`: keys may have the names of version 0.1, too. */
rapt_code recipe_parse(const char *path, const char *text, size_t size, bool former_names, rapt_recipe *out, rapt_error *err);

#endif
