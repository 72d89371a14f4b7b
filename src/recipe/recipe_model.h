/* recipe/recipe_model.h: a recipe's `model` group and the shapes of rapt/nn.h and rapt/lm.h, one into the other. */
#ifndef RECIPE_RECIPE_MODEL_H
#define RECIPE_RECIPE_MODEL_H

#include "rapt/lm.h"
#include "rapt/recipe.h"

/* Sets the model group to what model.preset names; nothing for none. */
void recipe_apply_preset(rapt_recipe *r);

/* Entries of byte pairs that are learned from so many bytes of text: the recipe's, or where it has 0, 2 sqrt(bytes), for
 * translation 6 sqrt(bytes),
 * from 512 to 32,000. */
size_t recipe_vocab_size(const rapt_recipe *r, size_t bytes);
rapt_dropouts recipe_dropouts(const rapt_recipe *r);
/* The other way: the model group but for presets, `vocab` and what only training knows. */
void recipe_take_lm(rapt_recipe *r, const rapt_lm_config *c);
void recipe_take_transformer(rapt_recipe *r, const rapt_transformer_config *c);
rapt_lm_config recipe_lm_config(const rapt_recipe *r, size_t vocab);
rapt_transformer_config recipe_transformer_config(const rapt_recipe *r, size_t source_vocab, size_t target_vocab);

#endif
