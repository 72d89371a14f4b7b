/* train/recipe_init.h: the recipe of a run that starts from another model's parameters. For the tasks, which load that model. */
#ifndef TRAIN_RECIPE_INIT_H
#define TRAIN_RECIPE_INIT_H

#include "rapt/io.h"
#include "rapt/recipe.h"

/* Fills `out` with `recipe`, but for what the model of `folder` decides: sizes, architecture and tokenizers. With it, train.init
 * names the folder, and the same model can be made again of `out` alone. What stays the recipe's: the three dropouts, and of a
 * language model the context. A key that is given and says otherwise than the model is refused: "model.layers is 5; the model in
 * FOLDER has 2". On success the caller frees `out`. */
rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, rapt_recipe *out, rapt_error *err);

#endif
