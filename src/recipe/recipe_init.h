/* recipe/recipe_init.h: the recipe of a run that starts from another model's parameters. For the set-up in run.c. */
#ifndef RECIPE_RECIPE_INIT_H
#define RECIPE_RECIPE_INIT_H

#include "rapt/io.h"
#include "rapt/recipe.h"

/* Fills `out` with `recipe`, except what the model of `folder` decides: sizes, architecture and tokenizers. train.init of `out`
 * names the folder, and the model can be made again from `out` alone. The recipe keeps its three dropouts, and the context of a
 * language model. A given key that differs from the model is refused: "model.layers is 5; the model in FOLDER has 2"; but not if
 * it is uncertain, because only the recipe.yaml of the model's run, if it exists and is unchanged, tells how a tokenizer was
 * trained.
 *
 * `resumed`: the folder of a run that is resumed from a checkpoint, or NULL. Its recipe.yaml, not the other model's, tells how
 * the tokenizers were trained; another train.init is refused while the folder that it names exists. If it has no train.init
 * (version 0.1), no given key is refused, because that version stored keys that had no effect. On success the caller frees
 * `out`. */
rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, const char *resumed,
                           rapt_recipe *out, rapt_error *err);

#endif
