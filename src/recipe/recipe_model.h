/* recipe/recipe_model.h: a recipe's `model` group and the shapes of rapt/nn.h and rapt/lm.h, one into the other. */
#ifndef RECIPE_RECIPE_MODEL_H
#define RECIPE_RECIPE_MODEL_H

#include "rapt/lm.h"
#include "rapt/recipe.h"

/* Sets the model group to the preset that model.preset names; does nothing for none. */
void recipe_apply_preset(rapt_recipe *r);

/* The vocabulary size for BPE training on a text of `bytes` bytes: the recipe's, or if that is 0, 2 sqrt(bytes), for translation
 * 6 sqrt(bytes), limited to 512 .. 32,000. */
size_t recipe_vocab_size(const rapt_recipe *r, size_t bytes);
rapt_dropouts recipe_dropouts(const rapt_recipe *r);
/* These functions set the model group from a configuration, except the preset, `vocab` and keys that only training uses. */
void recipe_take_lm(rapt_recipe *r, const rapt_lm_config *c);
void recipe_take_transformer(rapt_recipe *r, const rapt_transformer_config *c);
rapt_lm_config recipe_lm_config(const rapt_recipe *r, size_t vocab);
rapt_transformer_config recipe_transformer_config(const rapt_recipe *r, size_t source_vocab, size_t target_vocab);

#endif
