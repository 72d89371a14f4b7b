/* recipe/recipe_init.h: the recipe of a run that starts from another model's parameters. For the set-up in run.c. */
#ifndef RECIPE_RECIPE_INIT_H
#define RECIPE_RECIPE_INIT_H

#include "rapt/io.h"
#include "rapt/recipe.h"

/* Fills `out` with `recipe`, but for what the model of `folder` decides: sizes, architecture and tokenizers. With it, train.init
 * names the folder, and the same model can be made again of `out` alone. What stays the recipe's: the three dropouts, and of a
 * language model the context. A key that is given and says otherwise than the model is refused: "model.layers is 5; the model in
 * FOLDER has 2"; not so where nothing certain is known: how a tokenizer was learned stands in no file but the recipe.yaml of the
 * model's run, if it is there and unchanged.
 *
 * `resumed`: the folder of a run that is resumed from a checkpoint, or NULL. Its recipe.yaml, and not the other model's, says how
 * the tokenizers were learned; it refuses another train.init, as long as there is a folder of the name that it has. Where it has
 * no train.init, being of version 0.1, no given key is refused: that version kept keys that it did not heed.
 * On success the caller frees `out`. */
rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, const char *resumed,
                           rapt_recipe *out, rapt_error *err);

#endif
