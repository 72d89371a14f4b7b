/* train/recipe_model.h: a recipe's `model` group and the shapes of rapt/nn.h and rapt/lm.h, one into the other. */
#ifndef TRAIN_RECIPE_MODEL_H
#define TRAIN_RECIPE_MODEL_H

#include "rapt/lm.h"
#include "rapt/recipe.h"

/* Sets the model group to what model.preset names; nothing for none. */
void recipe_apply_preset(rapt_recipe *r);

rapt_dropouts recipe_dropouts(const rapt_recipe *r);
rapt_lm_config recipe_lm_config(const rapt_recipe *r, size_t vocab);
rapt_transformer_config recipe_transformer_config(const rapt_recipe *r, size_t source_vocab, size_t target_vocab);

#endif
