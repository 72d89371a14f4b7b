/* recipe/recipe_init.h: the recipe of a run that starts from another model's parameters. For the set-up in run.c. */
#ifndef RECIPE_RECIPE_INIT_H
#define RECIPE_RECIPE_INIT_H

#include "rapt/io.h"
#include "rapt/recipe.h"

/* Fills `out` with `recipe`, but for what the model of `folder` decides: sizes, architecture and tokenizers. Its
 * train.init names the folder, and the model can be made again from `out` alone. The recipe keeps its three dropouts, and the
 * context of a language model. A key that is given and differs from the model is refused: "model.layers is 5; the model in
 * FOLDER has 2"; not so where that is not certain: how a tokenizer was trained is recorded only in the recipe.yaml of the
 * model's run, if it is there and unchanged.
 *
 * `resumed`: the folder of a run that is resumed from a checkpoint, or NULL. Its recipe.yaml, and not the other model's, says how
 * the tokenizers were trained; another train.init is refused, as long as the folder that it names exists. Where it has no
 * train.init, being of version 0.1, no given key is refused: that version stored keys that had no effect.
 * On success the caller frees `out`. */
rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, const char *resumed,
                           rapt_recipe *out, rapt_error *err);

#endif
