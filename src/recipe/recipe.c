/* recipe/recipe.c: recipes in memory: defaults, single assignments, and checks of keys against each other.
 * For `rapt train` and for programs that fill a recipe themselves. YAML is in recipe_read.c and recipe_write.c. */
#include "rapt/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "recipe/recipe_corpora.h"
#include "recipe/recipe_defaults.h"

void rapt_recipe_defaults(rapt_recipe *recipe)
{
    recipe_defaults_of_task(RAPT_TASK_TRANSLATION, recipe);
}

void rapt_recipe_free(rapt_recipe *recipe)
{
    free(recipe->data.pairs);
    free(recipe->data.weights);
    free(recipe->data.validation);
    free(recipe->data.text);
    free(recipe->data.text_files);
    free(recipe->data.conversations);
    free(recipe->data.filter.rules);
    free(recipe->data.preferences);
    free(recipe->tokenizer.pattern);
    free(recipe->tokenizer.path);
    free(recipe->train.sample_prompt);
    free(recipe->train.init);
    free(recipe->train.freeze);
    free(recipe->train.lora.modules);
    free(recipe->train.lora.rank_pattern);
    free(recipe->train.lora.alpha_pattern);
    free(recipe->train.lora.save);
    free(recipe->train.vectors);
    free(recipe->train.target_vectors);
    rapt_recipe_defaults(recipe);
}

static rapt_code assign_value(rapt_recipe *recipe, const char *name, const char *value, char *reason)
{
    const recipe_key *key = recipe_key_wanted(name, reason);
    return key ? recipe_defaults_set(key, recipe, value, reason) : RAPT_ERR_VALUE;
}

static rapt_code assign(rapt_recipe *recipe, const char *assignment, char *reason)
{
    const char *equals = strchr(assignment, '=');
    char name[RECIPE_REASON];
    if (!equals) {
        snprintf(reason, RECIPE_REASON, "an assignment is KEY=VALUE");
        return RAPT_ERR_VALUE;
    }
    size_t length = (size_t)(equals - assignment);
    snprintf(name, sizeof name, "%.*s", length < RECIPE_REASON ? (int)length : RECIPE_REASON, assignment);
    return assign_value(recipe, name, equals + 1, reason);
}

rapt_code rapt_recipe_set(rapt_recipe *recipe, const char *assignment, rapt_error *err)
{
    char reason[RECIPE_REASON];
    rapt_code code = assign(recipe, assignment, reason);
    return code == RAPT_OK ? code : rapt_fail(err, code, "--set %s: %s", quote(assignment).text, reason);
}

rapt_code rapt_recipe_set_key(rapt_recipe *recipe, const char *name, const char *value, rapt_error *err)
{
    char reason[RECIPE_REASON];
    rapt_code code = assign_value(recipe, name, value, reason);
    return code == RAPT_OK ? code : rapt_fail(err, code, "%s", reason);
}

static rapt_code check_pairs_tokenizer(const rapt_recipe *r, char *reason)
{
    rapt_recipe_tokenizer type = r->tokenizer.type;
    if (r->train.init)
        return RAPT_OK;
    if (type > RAPT_RECIPE_TOKENIZER_FILE)
        snprintf(reason, RECIPE_REASON, "tokenizer.type must be words, characters, bpe or file for translation");
    else if (type == RAPT_RECIPE_TOKENIZER_FILE && (!r->tokenizer.path || !r->tokenizer.shared))
        snprintf(reason, RECIPE_REASON, "tokenizer.type is file; for translation it needs tokenizer.path, and tokenizer.shared");
    else if (r->model.tied && !r->tokenizer.shared)
        snprintf(reason, RECIPE_REASON, "model.tied is true; it needs tokenizer.shared to be true as well");
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

#define BOTH_VALIDATIONS \
    "data.validation and data.validation_fraction are both set; one of them makes the validation set"

/* Refuses keys whose names begin with `group` and that are not at their default, as they would have no effect. */
static rapt_code check_idle_group(const rapt_recipe *r, const char *group, const char *needs, char *reason)
{
    char value[RECIPE_NUMBER];
    rapt_recipe first;
    recipe_defaults_first(&first);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (strncmp(key->name, group, strlen(group)) != 0 || recipe_key_equal(key, r, &first))
            continue;
        snprintf(reason, RECIPE_REASON, "%s is %s; it needs %s", key->name, recipe_key_value(key, r, value), needs);
        return RAPT_ERR_VALUE;
    }
    return RAPT_OK;
}

/* Weights and filter; true if they fit. */
static bool check_corpora(const rapt_recipe *r, char *reason)
{
    check_options filter;
    if (!recipe_weights(r, NULL, reason) || !recipe_filter(r, &filter, reason))
        return false;
    return filter.rules || check_idle_group(r, "data.filter.", "data.filter.rules", reason) == RAPT_OK;
}

/* Relations between the keys of a translation model. */
static rapt_code check_translation(const rapt_recipe *r, char *reason)
{
    const size_t size = RECIPE_REASON;
    const long long max_len = r->data.max_len, positions = r->model.max_positions;
    if (!r->data.pairs)
        snprintf(reason, size, "data.pairs is missing; it names the file of sentence pairs");
    else if (r->data.validation && r->data.validation_fraction > 0)
        snprintf(reason, size, BOTH_VALIDATIONS);
    else if (r->train.eval_bleu && !r->data.validation && r->data.validation_fraction == 0)
        snprintf(reason, size, "train.eval_bleu is true; it needs data.validation or data.validation_fraction");
    else if (r->train.best_by != RAPT_RECIPE_BEST_BY_LOSS && !r->train.eval_bleu)
        snprintf(reason, size, "train.best_by is %s; it needs train.eval_bleu to be true",
                 r->train.best_by == RAPT_RECIPE_BEST_BY_BLEU ? "bleu" : "chrf");
    else if (max_len > positions)
        snprintf(reason, size, "data.max_len is %lld; it must be at most model.max_positions, %lld", max_len, positions);
    else if (r->train.accumulate > 1 && r->train.reduction == RAPT_RECIPE_REDUCTION_BOOK)
        snprintf(reason, size, "train.accumulate is %lld; the book's reduction knows one batch a step",
                 (long long)r->train.accumulate);
    else if (r->train.shards > 1 && r->train.reduction == RAPT_RECIPE_REDUCTION_BOOK)
        snprintf(reason, size, "train.shards is %lld; the book's reduction knows one pass a step", (long long)r->train.shards);
    else if (check_corpora(r, reason))
        return check_pairs_tokenizer(r, reason);
    return RAPT_ERR_VALUE;
}

static bool needs_path(rapt_recipe_tokenizer type)
{
    return type != RAPT_RECIPE_TOKENIZER_CHARACTERS && type != RAPT_RECIPE_TOKENIZER_BPE && type != RAPT_RECIPE_TOKENIZER_WORDS;
}

/* Keys that would have no effect on the data that a language model has. */
static rapt_code check_idle_data(const rapt_recipe *r, char *reason)
{
    enum { ALSO_OF_TRANSLATION = 2 }; /* of of_conversations, the first ones */
    static const char *const of_conversations[] = {"data.validation", "data.too_long", "data.pack", "train.loss_on"},
        *const of_text[] = {"data.text", "data.text_files", "data.text_order", "data.validation_tokens", "data.special_tokens"};
    const char *data = r->data.conversations ? "data.conversations" : r->data.preferences ? "data.preferences" : NULL;
    const bool text = !data;
    const char *const *names = text ? of_conversations : of_text;
    const size_t count = text ? sizeof of_conversations / sizeof *of_conversations : sizeof of_text / sizeof *of_text;
    char value[RECIPE_NUMBER];
    rapt_recipe first;
    recipe_defaults_first(&first);
    for (size_t i = 0; i < count; i++) {
        const recipe_key *key = recipe_key_find(names[i]);
        if (recipe_key_equal(key, r, &first))
            continue;
        snprintf(reason, RECIPE_REASON, "%s is %s; with %s it has no effect: it is for %s", key->name,
                 quote(recipe_key_value(key, r, value)).text, text ? "data.text" : data,
                 !text ? "data.text" : i < ALSO_OF_TRANSLATION ? "data.conversations, or task translation"
                                                               : "data.conversations");
        return RAPT_ERR_VALUE;
    }
    return RAPT_OK;
}

/* Keys that would have no effect on the loss of preferences, or without it. */
static rapt_code check_preferences(const rapt_recipe *r, char *reason)
{
    if (!r->data.preferences)
        return check_idle_group(r, "train.dpo.", "data.preferences", reason);
    if (r->data.conversations)
        snprintf(reason, RECIPE_REASON, "data.conversations and data.preferences are both set; a run tunes on one of them");
    else if (!r->train.init)
        snprintf(reason, RECIPE_REASON, "data.preferences is set; it needs train.init, the model to tune and the reference");
    else if (r->train.loss_on != RAPT_RECIPE_LOSS_ON_ANSWERS)
        snprintf(reason, RECIPE_REASON, "train.loss_on is all; the loss of data.preferences is on answers only");
    else if (r->train.label_smoothing > 0)
        snprintf(reason, RECIPE_REASON, "train.label_smoothing is %g; for data.preferences that is train.dpo.label_smoothing",
                 r->train.label_smoothing);
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code check_language_data(const rapt_recipe *r, char *reason)
{
    if (check_idle_data(r, reason) != RAPT_OK || check_preferences(r, reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (r->data.conversations && !r->train.init)
        snprintf(reason, RECIPE_REASON, "data.conversations is set; it needs train.init, a model with a chat template");
    else if (r->data.validation && r->data.validation_fraction > 0)
        snprintf(reason, RECIPE_REASON, BOTH_VALIDATIONS);
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code check_language_model(const rapt_recipe *r, char *reason)
{
    const size_t size = RECIPE_REASON;
    if (check_language_data(r, reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (!r->data.text && !r->data.conversations && !r->data.preferences)
        snprintf(reason, size, "data.text is missing; it names the file to learn from");
    else if (r->tokenizer.type == RAPT_RECIPE_TOKENIZER_WORDS && !r->train.init)
        snprintf(reason, size, "tokenizer.type is words, which is for translation; characters, bpe, file or a rank file's name");
    else if (needs_path(r->tokenizer.type) && !r->tokenizer.path && !r->train.init)
        snprintf(reason, size, "tokenizer.path is missing; it names the tokenizer's file");
    else if (r->tokenizer.normalize > RAPT_NORMALIZATION_NFC)
        snprintf(reason, size, "tokenizer.normalize is plain, which joins lines; a language model's may be none or nfc");
    else if (r->tokenizer.chat && r->tokenizer.type != RAPT_RECIPE_TOKENIZER_BPE && !r->train.init)
        snprintf(reason, size, "tokenizer.chat is chatml; that is for new models with tokenizer.type bpe");
    else if (r->tokenizer.chat && r->model.vocab == RAPT_RECIPE_VOCAB_TEXT)
        snprintf(reason, size, "tokenizer.chat is chatml; model.vocab text leaves out its tokens, which the text lacks");
    else if (r->model.tied && r->model.output_bias)
        snprintf(reason, size, "model.output_bias is true; with model.tied there is none");
    else if (r->model.init == RAPT_WEIGHT_INIT_XAVIER && !r->train.init)
        snprintf(reason, size, "model.init is xavier, which is for translation; pytorch or gpt2");
    else if (r->train.reduction == RAPT_RECIPE_REDUCTION_BOOK)
        snprintf(reason, size, "train.reduction is book, which is for translation");
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code check_vectors(const rapt_recipe *r, char *reason)
{
    const char *key = r->train.vectors ? "train.vectors" : r->train.target_vectors ? "train.target_vectors" : NULL;
    if (key && r->train.init)
        snprintf(reason, RECIPE_REASON, "%s is for a new model; the embeddings of a fine-tuned one are that model's", key);
    else if (r->train.target_vectors && r->model.tied)
        snprintf(reason, RECIPE_REASON, "train.target_vectors is set; with model.tied there is one embedding, of train.vectors");
    else if (r->train.freeze_vectors && !key)
        snprintf(reason, RECIPE_REASON, "train.freeze_vectors is true; it needs train.vectors or train.target_vectors");
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code check_lora(const rapt_recipe *r, char *reason)
{
    static const char *const idle[] = {"train.lora.modules", "train.lora.rslora", "train.lora.dora", "train.lora.rank_",
                                       "train.lora.alpha_", "train.lora.save", "train.lora.hold"};
    const long long rank = r->train.lora.rank;
    for (size_t i = 0; rank == 0 && i < sizeof idle / sizeof *idle; i++)
        if (check_idle_group(r, idle[i], "train.lora.rank", reason) != RAPT_OK)
            return RAPT_ERR_VALUE;
    if (rank > 0 && !r->train.init)
        snprintf(reason, RECIPE_REASON, "train.lora.rank is %lld; adapters are for a model that train.init names", rank);
    else if (rank > 0 && r->train.freeze)
        snprintf(reason, RECIPE_REASON, "train.freeze is set; with train.lora.rank all but the adapters is frozen");
    else
        return check_vectors(r, reason);
    return RAPT_ERR_VALUE;
}

/* Refuses keys of Muon that would have no effect: without Muon, and with adapters, which Adam moves; and likewise keys of the
 * plateau schedule. */
static rapt_code check_muon(const rapt_recipe *r, char *reason)
{
    const bool moves = r->train.optimizer == RAPT_RECIPE_OPTIMIZER_MUON && r->train.lora.rank == 0;
    const char *needs = r->train.lora.rank ? "train.optimizer to be muon and train.lora.rank 0: Adam moves adapters"
                                           : "train.optimizer to be muon";
    rapt_recipe first;
    recipe_defaults_first(&first);
    if (r->train.muon.weight_decay < 0 && r->train.muon.weight_decay != first.train.muon.weight_decay) {
        snprintf(reason, RECIPE_REASON, "train.muon.weight_decay is %g; it must be 0 or more, or -1: train.weight_decay",
                 r->train.muon.weight_decay);
        return RAPT_ERR_VALUE;
    }
    if (!moves && check_idle_group(r, "train.muon.", needs, reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (r->train.schedule != RAPT_RECIPE_SCHEDULE_PLATEAU &&
        check_idle_group(r, "train.plateau.", "train.schedule to be plateau", reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    return check_lora(r, reason);
}

/* Keys of SGD without it, and Adam's rows, which SGD has no rule for. */
static rapt_code check_sgd(const rapt_recipe *r, char *reason)
{
    const bool is_sgd = r->train.optimizer == RAPT_RECIPE_OPTIMIZER_SGD;
    if (!is_sgd && check_idle_group(r, "train.sgd.", "train.optimizer to be sgd", reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (is_sgd && check_idle_group(r, "train.lazy", "train.optimizer to be adam: sgd moves all rows", reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (!r->train.sgd.nesterov || r->train.sgd.momentum > 0)
        return check_muon(r, reason);
    snprintf(reason, RECIPE_REASON, "train.sgd.nesterov is true; it needs a train.sgd.momentum above 0");
    return RAPT_ERR_VALUE;
}

/* Gradients that are released are neither summed over batches nor kept. */
static rapt_code check_release(const rapt_recipe *r, char *reason)
{
    const bool released = r->train.release_gradients;
    if (released && r->train.shards > 1)
        snprintf(reason, RECIPE_REASON, "train.release_gradients is true and train.shards %lld; sums over shards keep all "
                 "gradients, so one of them must be at its default", (long long)r->train.shards);
    else if (released && r->train.accumulate > 1)
        snprintf(reason, RECIPE_REASON, "train.release_gradients is true and train.accumulate %lld; sums over batches keep all "
                 "gradients, so one of them must be at its default", (long long)r->train.accumulate);
    else if (released && r->train.gradients == RAPT_TYPE_BF16)
        snprintf(reason, RECIPE_REASON, "train.release_gradients is true and train.gradients bf16; gradients that are released "
                 "need not be smaller, so one of them must be at its default");
    else
        return check_sgd(r, reason);
    return RAPT_ERR_VALUE;
}

/* Batches that are cut into passes, or drawn together: only windows and sentences can be counted off. */
static rapt_code check_parts(const rapt_recipe *r, char *reason)
{
    const long long shards = r->train.shards, accumulate = r->train.accumulate, batch = r->train.batch;
    const bool cut = shards > accumulate, together = r->train.draw_by == RAPT_RECIPE_DRAW_BY_STEP;
    const char *data = r->train.batch_tokens > 0 ? "train.batch_tokens"
                       : r->data.conversations ? "data.conversations" : r->data.preferences ? "data.preferences" : NULL;
    if (cut && data)
        snprintf(reason, RECIPE_REASON, "train.shards is %lld; with %s it must be at most train.accumulate, %lld: a shard has "
                 "one batch at least", shards, data, accumulate);
    else if (together && data)
        snprintf(reason, RECIPE_REASON, "train.draw_by is step; with %s it must be batch", data);
    else if (cut && (shards % accumulate != 0 || batch % (shards / accumulate) != 0))
        snprintf(reason, RECIPE_REASON, "train.shards is %lld; above train.accumulate, %lld, it must be a multiple of it by a "
                 "number that divides train.batch, %lld: the shards are equal parts of batches", shards, accumulate, batch);
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

/* Relations between keys of both tasks. */
static rapt_code check_training(const rapt_recipe *r, char *reason)
{
    if (r->train.epochs == 0 && r->train.steps == 0)
        snprintf(reason, RECIPE_REASON, "train.epochs and train.steps are both 0; one of them must be above 0");
    else if (r->train.patience > 0 && !r->data.validation && r->data.validation_fraction == 0)
        snprintf(reason, RECIPE_REASON, "train.patience is %lld; it needs data.validation_fraction, or data.validation for "
                 "pairs, conversations and preferences",
                 (long long)r->train.patience);
    else if (r->train.schedule == RAPT_RECIPE_SCHEDULE_PLATEAU && !r->data.validation && r->data.validation_fraction == 0)
        snprintf(reason, RECIPE_REASON, "train.schedule is plateau; it needs data.validation_fraction, or data.validation for "
                 "pairs, conversations and preferences");
    else if (r->train.gradients == RAPT_TYPE_BF16 && r->train.accumulate > 1)
        snprintf(reason, RECIPE_REASON, "train.gradients is bf16 and train.accumulate %lld; sums over batches are kept in fp32, "
                 "so one of them must be at its default", (long long)r->train.accumulate);
    else if (r->train.gradients == RAPT_TYPE_BF16 && r->train.shards > 1)
        snprintf(reason, RECIPE_REASON, "train.gradients is bf16 and train.shards %lld; sums over shards are kept in fp32, so "
                 "one of them must be at its default", (long long)r->train.shards);
    else
        return check_parts(r, reason) ? RAPT_ERR_VALUE : check_release(r, reason);
    return RAPT_ERR_VALUE;
}

/* Whether the key's meaning begins with `who` and a colon, so that the key is for it only. */
static bool is_for(const recipe_key *key, const char *who)
{
    const size_t length = strlen(who);
    return strncmp(key->meaning, who, length) == 0 && key->meaning[length] == ':';
}

/* Refuses a key that is for `others` only and is not at its default, because it would have no effect. Recipes kept by version 0.1
 * list all keys, at that version's defaults. */
static rapt_code check_idle(const rapt_recipe *r, const char *others, const char *group, char *reason)
{
    char value[RECIPE_NUMBER];
    rapt_recipe defaults, first;
    recipe_defaults_of(r, &defaults);
    recipe_defaults_first(&first);
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (!is_for(key, others) || recipe_key_equal(key, r, &defaults) || recipe_key_equal(key, r, &first))
            continue;
        snprintf(reason, RECIPE_REASON, "%s is %s; that is for %s %s only", key->name,
                 quote(recipe_key_value(key, r, value)).text, group, others);
        return RAPT_ERR_VALUE;
    }
    return RAPT_OK;
}

/* Refuses keys of another type of tokenizer. A loaded tokenizer was trained with such keys, so a recipe may keep all of them
 * except the normalization. With train.init they are compared with that model's keys, once it is loaded. */
static rapt_code check_other_tokenizer(const rapt_recipe *r, char *reason)
{
    rapt_recipe_tokenizer type = r->tokenizer.type;
    if (r->train.init)
        return RAPT_OK;
    const bool words = type == RAPT_RECIPE_TOKENIZER_WORDS, pairs = type == RAPT_RECIPE_TOKENIZER_BPE,
        learned = !needs_path(type);
    if (r->tokenizer.normalize && !pairs)
        snprintf(reason, RECIPE_REASON, "tokenizer.normalize is for tokenizer.type bpe");
    else if (learned && !pairs && check_idle(r, "bpe", "tokenizer.type", reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    else
        return learned && !words ? check_idle(r, "words", "tokenizer.type", reason) : RAPT_OK;
    return RAPT_ERR_VALUE;
}

/* Checks relations between the sizes of a block, for both tasks. */
static rapt_code check_block(const rapt_recipe *r, char *reason)
{
    const long long d_model = r->model.d_model, heads = r->model.heads,
        kv_heads = r->model.kv_heads ? r->model.kv_heads : heads;
    if (r->train.init) /* a model of another program may have heads of other sizes; keys that contradict it are refused when it is
                          loaded */
        return RAPT_OK;
    if (d_model % heads != 0)
        snprintf(reason, RECIPE_REASON, "model.heads is %lld; it must divide model.d_model, %lld", heads, d_model);
    else if (heads % kv_heads != 0)
        snprintf(reason, RECIPE_REASON, "model.kv_heads is %lld; it must divide model.heads, %lld", kv_heads, heads);
    else if (r->model.positions == RAPT_POSITIONS_ROTARY && d_model / heads % 2 != 0)
        snprintf(reason, RECIPE_REASON, "model.positions is rotary; heads of %lld features can't be turned: they must be even",
                 d_model / heads);
    else
        return RAPT_OK;
    return RAPT_ERR_VALUE;
}

static rapt_code check_together(const rapt_recipe *r, char *reason)
{
    const bool pairs = r->task == RAPT_TASK_TRANSLATION;
    if (check_idle(r, pairs ? "language_model" : "translation", "task", reason) != RAPT_OK ||
        check_training(r, reason) != RAPT_OK || check_block(r, reason) != RAPT_OK ||
        (pairs ? check_translation : check_language_model)(r, reason) != RAPT_OK)
        return RAPT_ERR_VALUE;
    return check_other_tokenizer(r, reason);
}

rapt_code rapt_recipe_check(const rapt_recipe *recipe, const char *path, rapt_error *err)
{
    char reason[RECIPE_REASON];
    rapt_code code = RAPT_OK;
    for (size_t i = 0; code == RAPT_OK && i < recipe_key_count(); i++)
        code = recipe_key_check(recipe_key_at(i), recipe, reason);
    if (code == RAPT_OK)
        code = check_together(recipe, reason);
    return code == RAPT_OK ? code : rapt_fail(err, code, "%s: %s", path, reason);
}
