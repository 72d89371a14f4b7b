/* recipe/recipe_places.h: where the files of a kept recipe are, seen from its folder. The recipe has absolute paths, so that the
 * folder can be moved alone; comments below it have them relative to the folder, so that it can be moved or shared together with
 * its data. For train/folder and recipe_read.c. */
#ifndef RECIPE_RECIPE_PLACES_H
#define RECIPE_RECIPE_PLACES_H

#include "rapt/recipe.h"

/* A comment line for each absolute path of a recipe that has a folder in common with `folder`, which must be there; the caller
 * frees it. NULL when out of memory. */
char *recipe_places(const char *folder, const rapt_recipe *recipe);
/* Makes the recipe's relative paths relative to the recipe's own file, `path`. An absolute path that leads to nothing is replaced
 * by its place in the comments of `text`, if something is there; NULL: nobody vouches for the comments. On failure the recipe
 * can still be freed. */
rapt_code recipe_places_find(const char *path, const char *text, rapt_recipe *recipe, rapt_error *err);

#endif
