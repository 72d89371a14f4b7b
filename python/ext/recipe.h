/* recipe.h: the handle of a recipe, for training. */
#ifndef RAPT_PYTHON_RECIPE_H
#define RAPT_PYTHON_RECIPE_H

#include "ext.h"

#include "rapt/recipe.h"

/* The recipe of a handle, which the handle keeps alive; NULL with TypeError set. */
const rapt_recipe *recipe_of(const ext_state *s, PyObject *handle);

#endif
