/* train/recipe_compare.c: whether two recipes learn the same, by key. For what a checkpoint belongs to, and for keys that are
 * at their default. Knows nothing of the data that a recipe names. */
#include "train/recipe_compare.h"

#include "base/rng.h"

#include <string.h>

/* A run may go on with others: places of files, what is told and kept, what takes memory, and when to give up. */
static const char *const FREE[] = {
    "data.pairs", "data.valid", "data.text", "tokenizer.path", "train.recompute", "train.checkpoint_every", "train.keep",
    "train.sample_every", "train.sample_tokens", "train.sample_prompt", "train.eval_bleu", "train.patience"};

static bool decides(const recipe_key *key)
{
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        if (strcmp(key->name, FREE[i]) == 0)
            return false;
    return true;
}

bool recipe_key_differs(const recipe_key *key, const rapt_recipe *a, const rapt_recipe *b)
{
    char one[RECIPE_NUMBER], other[RECIPE_NUMBER];
    return strcmp(recipe_key_value(key, a, one), recipe_key_value(key, b, other)) != 0;
}

uint64_t recipe_hash(const rapt_recipe *r)
{
    char value[RECIPE_NUMBER];
    rapt_recipe defaults;
    uint64_t hash = 0;
    rapt_recipe_defaults(&defaults);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (decides(key) && recipe_key_differs(key, r, &defaults))
            hash = rng_mix(rng_mix(hash, rng_hash_text(key->name)), rng_hash_text(recipe_key_value(key, r, value)));
    }
    return hash;
}

const recipe_key *recipe_first_difference(const rapt_recipe *a, const rapt_recipe *b)
{
    for (size_t i = 0; i < recipe_key_count(); i++)
        if (decides(recipe_key_at(i)) && recipe_key_differs(recipe_key_at(i), a, b))
            return recipe_key_at(i);
    return NULL;
}
