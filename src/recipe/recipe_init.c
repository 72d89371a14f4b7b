/* recipe/recipe_init.c: completes the recipe of a fine-tuning run with what the model decides. The model knows its shape, its
 * initialization and its tokenizers; only its run's recipe, if there is one, tells how the tokenizers were trained. */
#include "recipe/recipe_init.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/quote.h"
#include "io/json_file.h"
#include "io/model_core.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_defaults.h"
#include "recipe/recipe_model.h"
#include "recipe/recipe_seal.h"

#include <stdlib.h>
#include <string.h>

/* Windows of a Hugging Face model whose recipe does not say how long they are: its context can be more than a text has. */
enum { LONG_CONTEXT = 1024, CONFIG_MAX = 1 << 20 };

/* A recipe that says how the tokenizers were trained, and how reliable it is. */
typedef struct source {
    rapt_recipe recipe; /* defaults if none was found */
    bool sure;          /* it is of the run that made the model: other given values are errors */
    bool first;         /* the run that is resumed is of version 0.1 */
} source;

static bool read_task_recipe(const char *folder, rapt_task task, rapt_recipe *out)
{
    bool ok = rapt_recipe_load(folder, out, NULL) == RAPT_OK;
    if (ok && out->task != task) {
        rapt_recipe_free(out);
        ok = false;
    }
    return ok;
}

/* A folder may hold any recipe.yaml, such as one for fine-tuning the model; only its seal proves that it is the run's. */
static bool read_of_run(const char *folder, uint64_t run, rapt_task task, rapt_recipe *out)
{
    return run && recipe_state_in(folder, run) == RECIPE_OF_THIS_RUN && read_task_recipe(folder, task, out);
}

/* best/ and average/ are in the folder of their run. */
static bool read_of_run_above(const char *folder, uint64_t run, rapt_task task, rapt_recipe *out)
{
    char *above = file_join(folder, "..");
    bool ok = above && read_of_run(above, run, task, out);
    free(above);
    return ok;
}

static void find_source(const char *folder, const rapt_model *m, rapt_task task, source *s)
{
    if (m->family) {
        recipe_defaults_of_task(task, &s->recipe);
        return;
    }
    s->sure = read_of_run(folder, m->run, task, &s->recipe) || read_of_run_above(folder, m->run, task, &s->recipe);
    /* Models and recipes of version 0.1 do not name their run: an unsealed recipe in the model's folder is likely its own. */
    bool first = !s->sure && !m->run && recipe_state_in(folder, 0) == RECIPE_UNSEALED &&
                 read_task_recipe(folder, task, &s->recipe);
    if (!s->sure && !first)
        recipe_defaults_of_task(task, &s->recipe);
}

/* A kept recipe has absolute paths. */
static bool is_same_file(const char *a, const char *b)
{
    char *one = a ? disk_real_path(a) : NULL, *other = b ? disk_real_path(b) : NULL;
    bool same = one && other && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

/* A model folder that was moved counts as the same: its sizes and tokenizers are compared with the checkpoint's. */
static rapt_code check_init_folder(const char *began, const char *folder, const char *resumed, rapt_error *err)
{
    char *there = disk_real_path(began);
    bool other = there && !is_same_file(there, folder);
    free(there);
    if (!other)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: the run began with the model in %s, not with that in %s: resume it with --init %s",
                     quote(resumed).text, quote(began).text, quote(folder).text, quote(began).text);
}

/* The recipe of a resumed run records what was taken from the model. */
static rapt_code find_resumed(const char *resumed, const char *folder, const rapt_model *m, rapt_task task, source *s,
                              rapt_error *err)
{
    bool unsealed = recipe_state_in(resumed, 0) == RECIPE_UNSEALED;
    if (!read_task_recipe(resumed, task, &s->recipe)) {
        find_source(folder, m, task, s);
        return RAPT_OK;
    }
    if (s->recipe.train.init) {
        s->sure = true;
        return check_init_folder(s->recipe.train.init, folder, resumed, err);
    }
    rapt_recipe_free(&s->recipe);
    find_source(folder, m, task, s);
    s->first = unsealed;
    return RAPT_OK;
}

/* A tokenizer from a file can be of any kind. */
static rapt_recipe_tokenizer type_of(const rapt_tokenizer *k, rapt_recipe_tokenizer said)
{
    const rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(k);
    if (said == RAPT_RECIPE_TOKENIZER_FILE || kind == RAPT_TOKENIZER_SENTENCEPIECE)
        return RAPT_RECIPE_TOKENIZER_FILE;
    if (kind == RAPT_TOKENIZER_BYTE_BPE && said > RAPT_RECIPE_TOKENIZER_FILE)
        return said;
    return kind == RAPT_TOKENIZER_WORDS ? RAPT_RECIPE_TOKENIZER_WORDS : kind == RAPT_TOKENIZER_CHARACTERS
           ? RAPT_RECIPE_TOKENIZER_CHARACTERS : RAPT_RECIPE_TOKENIZER_BPE;
}

static const rapt_tokenizer *tokenizer_of(const rapt_model *m)
{
    return m->task == RAPT_TASK_TRANSLATION ? m->translation.source : m->language.tokenizer;
}

/* Whether only a recipe, and not the tokenizer itself, records this key. */
static bool only_in_recipe(const recipe_key *key, const rapt_model *m)
{
    static const char *const words[] = {"lowercase", "min_freq", "max_size"}, *const pairs[] = {"pattern", "normalize"};
    const rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(tokenizer_of(m));
    const char *const *names = kind == RAPT_TOKENIZER_WORDS ? words : pairs;
    size_t count = kind == RAPT_TOKENIZER_WORDS ? sizeof words / sizeof *words : kind == RAPT_TOKENIZER_BYTE_BPE
                   ? sizeof pairs / sizeof *pairs : 0;
    if (strncmp(key->name, "tokenizer.", 10) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(key->name + 10, names[i]) == 0)
            return true;
    return strcmp(key->name, "tokenizer.path") == 0 || strcmp(key->name, "tokenizer.type") == 0;
}

/* Takes the keys of tokenizer training from the source if it is reliable, else from the recipe. Strings are shared. */
static void take_tokenizer_keys(rapt_recipe *models, const rapt_recipe *recipe, const rapt_model *m, const source *s)
{
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        bool given = !s->sure && !s->first && only_in_recipe(key, m) && recipe_key_given(key, recipe);
        if (strncmp(key->name, "tokenizer.", 10) == 0)
            recipe_key_copy(key, models, given ? recipe : &s->recipe);
    }
}

static void take_tokenizers(rapt_recipe *models, const rapt_model *m)
{
    models->tokenizer.type = m->family ? RAPT_RECIPE_TOKENIZER_FILE : type_of(tokenizer_of(m), models->tokenizer.type);
    if (models->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE && models->tokenizer.vocab_size > 0)
        models->tokenizer.vocab_size = (int64_t)rapt_tokenizer_size(tokenizer_of(m));
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        return;
    models->tokenizer.shared = m->translation.source == m->translation.target;
    models->tokenizer.detokenize = m->translation.detokenize;
    models->tokenizer.capitalize = m->translation.capitalize;
}

/* model.vocab of a model with all ids of its tokenizer may be either value. */
static void take_vocab(rapt_recipe *models, const rapt_recipe *recipe, const rapt_model *m, const source *s)
{
    const recipe_key *key = recipe_key_find("model.vocab");
    if (m->task == RAPT_TASK_LANGUAGE_MODEL && m->language.net->config.vocab < rapt_tokenizer_size(m->language.tokenizer))
        models->model.vocab = RAPT_RECIPE_VOCAB_TEXT;
    else
        recipe_key_copy(key, models, !s->sure && recipe_key_given(key, recipe) ? recipe : &s->recipe);
}

/* Values that no recipe can express, as in some Hugging Face models, stay at their defaults. */
static void drop_unknown_values(rapt_recipe *models, rapt_task task)
{
    char reason[RECIPE_REASON];
    rapt_recipe defaults;
    recipe_defaults_of_task(task, &defaults);
    for (size_t i = 0; i < recipe_key_count(); i++)
        if (recipe_key_check(recipe_key_at(i), models, reason) != RAPT_OK)
            recipe_key_copy(recipe_key_at(i), models, &defaults);
}

/* The keys of the model: its shape and how it was initialized, as its config.json has it, and its tokenizers. */
static void take_model(rapt_recipe *models, const rapt_recipe *recipe, const rapt_model *m, const source *s)
{
    recipe_defaults_of_task(recipe->task, models);
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        recipe_take_lm(models, &m->language.net->config);
    else
        recipe_take_transformer(models, &m->translation.net->config);
    if (m->family)
        drop_unknown_values(models, recipe->task);
    take_vocab(models, recipe, m, s);
    take_tokenizer_keys(models, recipe, m, s);
    take_tokenizers(models, m);
}

static rapt_code refuse_key(const recipe_key *key, const rapt_recipe *r, const rapt_recipe *models, const char *folder,
                            rapt_error *err)
{
    char here[RECIPE_NUMBER], there[RECIPE_NUMBER];
    const char *mine = recipe_key_value(key, r, here), *theirs = recipe_key_value(key, models, there);
    return rapt_fail(err, RAPT_ERR_VALUE, "%s is %s; the model in %s has %s, which fine-tuning keeps: leave the key out",
                     key->name, *mine ? quote(mine).text : "empty", quote(folder).text, *theirs ? quote(theirs).text : "none");
}

/* Whether tokenizer.vocab_size agrees with the model: it is automatic, it is the model's size, or it is the size that the model's
 * run requested from a text with fewer entries. It also agrees if no BPE merges are trained, because then it has no effect. */
static bool fits_vocab_size(const rapt_recipe *r, const rapt_model *m, const source *s)
{
    const int64_t wanted = r->tokenizer.vocab_size;
    if (wanted == 0 || r->tokenizer.type != RAPT_RECIPE_TOKENIZER_BPE || (s->sure && wanted == s->recipe.tokenizer.vocab_size))
        return true;
    return wanted == (int64_t)rapt_tokenizer_size(tokenizer_of(m)) ||
           (m->task == RAPT_TASK_TRANSLATION && wanted == (int64_t)rapt_tokenizer_size(m->translation.target));
}

static rapt_code check_given_keys(const rapt_recipe *recipe, const rapt_recipe *models, const rapt_model *m, const source *s,
                                  const char *folder, rapt_error *err)
{
    rapt_recipe r = *recipe, real = *models;
    r.model.preset = models->model.preset; /* the name of several other keys' values */
    if (r.model.kv_heads == r.model.heads) /* equivalent to 0 */
        r.model.kv_heads = 0;
    if (r.model.embedding_std == 0) /* automatic */
        r.model.embedding_std = models->model.embedding_std;
    if (is_same_file(r.tokenizer.path, models->tokenizer.path))
        r.tokenizer.path = models->tokenizer.path;
    real.tokenizer.vocab_size = fits_vocab_size(recipe, m, s) ? r.tokenizer.vocab_size
                                                              : (int64_t)rapt_tokenizer_size(tokenizer_of(m));
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (recipe_key_of_init(key) && recipe_key_given(key, recipe) && !recipe_key_equal(key, &r, &real))
            return refuse_key(key, recipe, &real, folder, err);
    }
    return RAPT_OK;
}

/* Lengths that are not given become the model's if the default is too long for it, or if the model decides. */
static void fit_lengths(rapt_recipe *r, const rapt_model *m, int64_t standard)
{
    const bool pairs = m->task == RAPT_TASK_TRANSLATION;
    const int64_t context = pairs ? 0 : (int64_t)m->language.net->config.context;
    rapt_recipe defaults; /* with the model's kind of tokenizer */
    recipe_defaults_of(r, &defaults);
    if (pairs && !recipe_key_given(recipe_key_find("data.max_len"), r) && r->data.max_len == standard)
        r->data.max_len = defaults.data.max_len;
    if (pairs && !recipe_key_given(recipe_key_find("data.max_len"), r) && r->data.max_len > r->model.max_positions)
        r->data.max_len = r->model.max_positions;
    if (!pairs && !recipe_key_given(recipe_key_find("model.context"), r))
        r->model.context = m->family && context > LONG_CONTEXT ? LONG_CONTEXT : context;
}

/* A key that the recipe leaves out. */
static void put_default(rapt_recipe *r, const rapt_recipe *defaults, const char *name, double value)
{
    const recipe_key *key = recipe_key_find(name);
    if (!recipe_key_given(key, r) && recipe_key_equal(key, r, defaults))
        recipe_key_put(key, r, value);
}

/* The first of `names` (ended by NULL) that is a probability in the config.json of a Hugging Face folder, else `missing`. */
static double probability_of(const json_t *config, const char *const *names, double missing)
{
    for (; *names; names++) {
        const json_t *value = json_object_get(config, *names);
        if (json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= 0.95)
            return json_number_value(value);
    }
    return missing;
}

/* The dropouts that a model was trained with, as far as its files say: most language models have none. */
static void fit_dropouts(rapt_recipe *r, const rapt_recipe *defaults, const rapt_model *m, const char *folder, const source *s)
{
    static const char *const output[] = {"resid_pdrop", "dropout", "hidden_dropout", "residual_dropout", NULL},
        *const attention[] = {"attn_pdrop", "attention_dropout", NULL}, *const hidden[] = {"activation_dropout", NULL};
    rapt_recipe own = s->sure ? s->recipe : *defaults;
    if (recipe_key_given(recipe_key_find("model.dropout"), r)) /* the other dropouts follow it */
        return;
    if (m->family) {
        char *path = file_join(folder, "config.json");
        json_t *config = path ? json_file_read(path, CONFIG_MAX, NULL) : NULL; /* a GGUF file has none */
        own.model.dropout = probability_of(config, output, 0);
        own.model.attention_dropout = probability_of(config, attention, -1);
        own.model.activation_dropout = probability_of(config, hidden, 0);
        json_decref(config);
        free(path);
    }
    put_default(r, defaults, "model.dropout", own.model.dropout);
    put_default(r, defaults, "model.attention_dropout", own.model.attention_dropout);
    put_default(r, defaults, "model.activation_dropout", own.model.activation_dropout);
}

/* With the learning rate of a new model, a trained model would lose what it knows. transformers trains all parameters with 5e-5
 * and no decay; adapters, the small models that were trained here, and SGD take a tenth of the rate of training from scratch. */
static void fit_training(rapt_recipe *r, const rapt_recipe *defaults, const rapt_model *m)
{
    const bool with_sgd = r->train.optimizer == RAPT_RECIPE_OPTIMIZER_SGD;
    put_default(r, defaults, "train.lr", with_sgd ? 0.01 : m->family && r->train.lora.rank == 0 ? 5e-5 : 2e-4);
    put_default(r, defaults, "train.weight_decay", 0);
    put_default(r, defaults, "train.warmup", 0);
}

/* Makes the texts of a plain copy its own. */
static bool own_texts(rapt_recipe *r)
{
    bool ok = true;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        char **text = (char **)((char *)r + recipe_key_at(i)->offset);
        if (recipe_key_at(i)->kind != RECIPE_STRING || !*text)
            continue;
        *text = ok ? chars_copy(*text) : NULL;
        ok = ok && *text;
    }
    return ok;
}

static rapt_code merge_recipes(const rapt_recipe *recipe, const rapt_recipe *models, const rapt_model *m, const source *s,
                               const char *folder, rapt_recipe *out, rapt_error *err)
{
    rapt_recipe all = *recipe, defaults;
    recipe_defaults_of(recipe, &defaults);
    for (size_t i = 0; i < recipe_key_count(); i++)
        if (recipe_key_of_init(recipe_key_at(i)))
            recipe_key_copy(recipe_key_at(i), &all, models);
    fit_lengths(&all, m, defaults.data.max_len);
    if (!s->first) {
        fit_dropouts(&all, &defaults, m, folder, s);
        fit_training(&all, &defaults, m);
    }
    char *name = chars_copy(folder);
    all.train.init = name;
    bool ok = name && own_texts(&all);
    free(name);
    if (ok)
        *out = all;
    else if (name)
        rapt_recipe_free(&all);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a recipe");
}

rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, const char *resumed,
                           rapt_recipe *out, rapt_error *err)
{
    source s = {0};
    rapt_recipe models;
    rapt_code code = RAPT_OK;
    if (resumed)
        code = find_resumed(resumed, folder, m, recipe->task, &s, err);
    else
        find_source(folder, m, recipe->task, &s);
    take_model(&models, recipe, m, &s);
    if (!code && !s.first)
        code = check_given_keys(recipe, &models, m, &s, folder, err);
    if (!code)
        code = merge_recipes(recipe, &models, m, &s, folder, out, err);
    rapt_recipe_free(&s.recipe);
    return code;
}
