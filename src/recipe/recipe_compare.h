/* recipe/recipe_compare.h: whether two recipes train the same model, by hash and by key. */
#ifndef RECIPE_RECIPE_COMPARE_H
#define RECIPE_RECIPE_COMPARE_H

#include "recipe/recipe_keys.h"

enum { RECIPE_TUNED = 640 };

/* Whether the model from which a run starts (train.init) decides this key: all keys of the groups `model` and `tokenizer` except
 * the three dropouts and model.context. With train.init the functions below ignore these keys. */
bool recipe_key_of_init(const recipe_key *key);

/* The hash of the keys that decide the trained model and are not at their first default, so that later keys and defaults change
 * no hash. Paths are not hashed, because the task hashes the contents; nor is the length of a run, because it may be continued
 * for more epochs. */
uint64_t recipe_hash(const rapt_recipe *r);
/* The hash of version 0.1, which includes train.epochs and train.steps, and all keys also with train.init. */
uint64_t recipe_hash_first(const rapt_recipe *r);

/* Whether a resumed run may change this key, although it decides the result: the learning rate and its schedule, weight decay. */
bool recipe_key_is_tuned(const recipe_key *key);
/* recipe_hash without those keys. */
uint64_t recipe_hash_fixed(const rapt_recipe *r);
/* Those keys and their values, "train.lr=0.001 train.warmup=100 ...", for a checkpoint. */
void recipe_tuned_text(const rapt_recipe *r, char text[RECIPE_TUNED]);
/* Sets them from such a text; what it leaves out stays. RAPT_ERR_VALUE, with a reason: it is none. */
rapt_code recipe_tuned_take(const char *text, rapt_recipe *r, char reason[RECIPE_REASON]);

/* The first key that decides the trained model and differs in two recipes; NULL if there is none. */
const recipe_key *recipe_first_difference(const rapt_recipe *a, const rapt_recipe *b);
/* The first of them that a resumed run may not change. */
const recipe_key *recipe_first_fixed_difference(const rapt_recipe *a, const rapt_recipe *b);

#endif
