/* recipe/recipe_read.h: recipes from YAML text in memory. For rapt_recipe_read, the fuzzer, and recipes in model folders, whose
 * paths are absolute. */
#ifndef RECIPE_RECIPE_READ_H
#define RECIPE_RECIPE_READ_H

#include "rapt/recipe.h"

/* `path` is for messages only: data.pairs stays as written. `*out` as with rapt_recipe_read. `former_names`: keys may also have
 * their names of version 0.1. */
rapt_code recipe_parse(const char *path, const char *text, size_t size, bool former_names, rapt_recipe *out, rapt_error *err);

#endif
