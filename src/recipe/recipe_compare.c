/* recipe/recipe_compare.c: whether two recipes train the same model, by hash and by key. To match checkpoints and recipes. It
 * does not read the data that a recipe names. */
#include "recipe/recipe_compare.h"

#include "base/quote.h"
#include "base/rng.h"
#include "recipe/recipe_defaults.h"

#include <stdio.h>
#include <string.h>

/* A run may be resumed with other values of these keys, and with other paths: reports and checkpoints, memory, early stopping;
 * and the special tokens of a text, because the ids are compared. */
static const char *const FREE[] = {"train.recompute", "train.release_gradients", "train.checkpoint_every", "train.keep",
                                   "train.lora.hold", "train.sample_every", "train.sample_tokens", "train.sample_prompt",
                                   "train.eval_bleu", "train.patience", "train.keep_untrained", "train.tensorboard",
                                   "data.special_tokens"};

static const char *const TUNED[] = {"train.lr", "train.lr_end", "train.schedule", "train.warmup", "train.weight_decay",
                                    "train.plateau.patience", "train.plateau.factor", "train.muon.lr",
                                    "train.muon.weight_decay"};

static bool is_length(const recipe_key *key)
{
    return strcmp(key->name, "train.epochs") == 0 || strcmp(key->name, "train.steps") == 0;
}

/* Keys of `model` that may differ from the model that a run starts from. */
static const char *const OWN[] = {"model.dropout", "model.attention_dropout", "model.activation_dropout", "model.context"};

static bool is_one_of(const recipe_key *key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key->name, names[i]) == 0)
            return true;
    return false;
}

bool recipe_key_is_tuned(const recipe_key *key)
{
    return is_one_of(key, TUNED, sizeof TUNED / sizeof *TUNED);
}

bool recipe_key_of_init(const recipe_key *key)
{
    bool group = strncmp(key->name, "model.", 6) == 0 || strncmp(key->name, "tokenizer.", 10) == 0;
    return group && !is_one_of(key, OWN, sizeof OWN / sizeof *OWN);
}

/* Whether a key decides the trained model. With `init`, the other model's parameters and tokenizers are compared directly,
 * because the keys with which they were made may be unknown. */
static bool decides(const recipe_key *key, bool init)
{
    return !is_one_of(key, FREE, sizeof FREE / sizeof *FREE) && !recipe_key_is_path(key) && !(init && recipe_key_of_init(key));
}

/* The default of tokenizer.vocab_size has changed since version 0.1; the key has no effect unless BPE merges are trained. */
static rapt_recipe without_idle(const rapt_recipe *r)
{
    rapt_recipe all = *r, first;
    recipe_defaults_first(&first);
    if (r->tokenizer.type != RAPT_RECIPE_TOKENIZER_BPE && r->tokenizer.vocab_size == 0)
        all.tokenizer.vocab_size = first.tokenizer.vocab_size;
    return all;
}

static uint64_t hash_keys(const rapt_recipe *recipe, bool lengths, bool tuned, bool init)
{
    char value[RECIPE_NUMBER];
    rapt_recipe first, all = without_idle(recipe);
    const rapt_recipe *r = &all;
    uint64_t hash = 0;
    recipe_defaults_first(&first);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (decides(key, init) && (lengths || !is_length(key)) && (tuned || !recipe_key_is_tuned(key)) &&
            !recipe_key_equal(key, r, &first))
            hash = rng_mix(rng_mix(hash, rng_hash_text(recipe_key_first_name(key))), rng_hash_text(recipe_key_value(key, r,
                                                                                                                    value)));
    }
    return hash;
}

uint64_t recipe_hash(const rapt_recipe *r)
{
    return hash_keys(r, false, true, r->train.init != NULL);
}

uint64_t recipe_hash_first(const rapt_recipe *r)
{
    return hash_keys(r, true, true, false);
}

uint64_t recipe_hash_fixed(const rapt_recipe *r)
{
    return hash_keys(r, false, false, r->train.init != NULL);
}

void recipe_tuned_text(const rapt_recipe *r, char text[RECIPE_TUNED])
{
    char value[RECIPE_NUMBER];
    size_t used = 0;
    for (size_t i = 0; i < sizeof TUNED / sizeof *TUNED; i++)
        used += (size_t)snprintf(text + used, RECIPE_TUNED - used, "%s%s=%s", i > 0 ? " " : "", TUNED[i],
                                 recipe_key_value(recipe_key_find(TUNED[i]), r, value));
}

/* Sets "KEY=VALUE", of `size` bytes. */
static rapt_code take_one(const char *text, size_t size, rapt_recipe *r, char reason[RECIPE_REASON])
{
    char name[RECIPE_TUNED];
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    char *value = strchr(name, '=');
    if (value)
        *value++ = '\0';
    const recipe_key *key = value ? recipe_key_find(name) : NULL;
    if (key && recipe_key_is_tuned(key))
        return recipe_key_set(key, r, value, reason);
    snprintf(reason, RECIPE_REASON, "\"%s\"", quote(name).text);
    return RAPT_ERR_VALUE;
}

rapt_code recipe_tuned_take(const char *text, rapt_recipe *r, char reason[RECIPE_REASON])
{
    rapt_code code = RAPT_OK;
    for (size_t size; *text && !code; text += size + (text[size] == ' ')) {
        size = strcspn(text, " ");
        code = size < RECIPE_TUNED ? take_one(text, size, r, reason) : RAPT_ERR_VALUE;
    }
    return code;
}

static const recipe_key *recipe_differs_first(const rapt_recipe *a, const rapt_recipe *b, bool tuned)
{
    rapt_recipe one = without_idle(a), other = without_idle(b);
    const bool init = a->train.init || b->train.init;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (decides(key, init) && !is_length(key) && (tuned || !recipe_key_is_tuned(key)) &&
            !recipe_key_equal(key, &one, &other))
            return key;
    }
    return NULL;
}

const recipe_key *recipe_first_difference(const rapt_recipe *a, const rapt_recipe *b)
{
    return recipe_differs_first(a, b, true);
}

const recipe_key *recipe_first_fixed_difference(const rapt_recipe *a, const rapt_recipe *b)
{
    return recipe_differs_first(a, b, false);
}
