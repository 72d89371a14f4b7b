/* recipe/recipe_defaults.c: the defaults of both tasks, in two tables, and the few keys whose default follows another key.
 * docs/results/minimal-recipes.md has the measurements. */
#include "recipe/recipe_defaults.h"

#include <string.h>

/* Defaults of a task that differ from the first default in recipe_keys.h. Keys of other tasks keep theirs, as all are listed. */
#define RECIPE_TRANSLATION(X)                   \
    X(data.validation_fraction, 0.05)                      \
    X(tokenizer.type, RAPT_RECIPE_TOKENIZER_BPE)          \
    X(tokenizer.vocab_size, 0)                  \
    X(tokenizer.shared, true)                   \
    X(model.tied, true)                         \
    X(model.init, RAPT_WEIGHT_INIT_PYTORCH)          \
    X(train.epochs, 15)                         \
    X(train.batch, 32)                          \
    X(train.lr, 0.002)                          \
    X(train.label_smoothing, 0.1)               \
    X(train.schedule, RAPT_RECIPE_SCHEDULE_COSINE)       \
    X(train.warmup, 100)

#define RECIPE_LANGUAGE_MODEL(X)                \
    X(data.validation_fraction, 0.05)                      \
    X(tokenizer.type, RAPT_RECIPE_TOKENIZER_BPE)          \
    X(tokenizer.vocab_size, 0)                  \
    X(model.layers, 4)                          \
    X(model.ffn, 352)                           \
    X(model.ffn_kind, RAPT_FFN_SWIGLU)       \
    X(model.norm_place, RAPT_NORM_PLACE_PRE)              \
    X(model.norm_kind, RAPT_NORM_KIND_RMS)    \
    X(model.bias, false)                        \
    X(model.scale_embedding, false)             \
    X(model.tied, true)                         \
    X(model.positions, RAPT_POSITIONS_ROTARY)      \
    X(model.context, 128)                       \
    X(model.init, RAPT_WEIGHT_INIT_GPT2)        \
    X(train.batch, 16)                          \
    X(train.lr, 0.002)                          \
    X(train.beta2, 0.99)                        \
    X(train.weight_decay, 0.1)                  \
    X(train.schedule, RAPT_RECIPE_SCHEDULE_COSINE)       \
    X(train.warmup, 100)

typedef struct standard {
    const char *name;
    double value;
} standard;

#define ROW(key, value) {#key, value},
static const standard translation[] = {RECIPE_TRANSLATION(ROW)}, language_model[] = {RECIPE_LANGUAGE_MODEL(ROW)};

static void recipe_defaults_put_all(rapt_recipe *out, const standard *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        recipe_key_put(recipe_key_find(rows[i].name), out, rows[i].value);
}

void recipe_defaults_first(rapt_recipe *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < recipe_key_count(); i++)
        recipe_key_put(recipe_key_at(i), out, recipe_key_at(i)->first_standard);
}

enum { CHARACTERS_MAX_LEN = 200 };

#define SGD_LR 0.1

/* A vocabulary of words belongs to one language; tied embeddings need a shared vocabulary, and an output without a bias. A
 * sentence has several times as many characters as words or subwords. SGD doesn't divide by the gradient's size, so its steps are
 * small; and its weight decay, which passes through the momentum, is another one than Adam's. */
static void follow_others(const rapt_recipe *r, rapt_recipe *out)
{
    const bool pairs = r->task == RAPT_TASK_TRANSLATION;
    if (pairs && r->tokenizer.type == RAPT_RECIPE_TOKENIZER_CHARACTERS)
        out->data.max_len = CHARACTERS_MAX_LEN;
    if (r->train.optimizer == RAPT_RECIPE_OPTIMIZER_SGD) {
        out->train.lr = SGD_LR;
        out->train.weight_decay = 0;
    }
    if (r->data.validation)
        out->data.validation_fraction = 0;
    if (pairs && r->tokenizer.type == RAPT_RECIPE_TOKENIZER_WORDS)
        out->tokenizer.shared = false;
    if (pairs ? !r->tokenizer.shared || r->tokenizer.type == RAPT_RECIPE_TOKENIZER_WORDS : r->model.output_bias)
        out->model.tied = false;
}

void recipe_defaults_of(const rapt_recipe *r, rapt_recipe *out)
{
    recipe_defaults_first(out);
    if (r->task == RAPT_TASK_TRANSLATION)
        recipe_defaults_put_all(out, translation, sizeof translation / sizeof *translation);
    else
        recipe_defaults_put_all(out, language_model, sizeof language_model / sizeof *language_model);
    follow_others(r, out);
}

/* A field that a program has set is kept, unless it set the default. */
static bool recipe_defaults_follow(rapt_recipe *r, const rapt_recipe *before, const rapt_recipe *now)
{
    bool any = false;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (key->kind == RECIPE_STRING || recipe_key_given(key, r) || !recipe_key_equal(key, r, before) ||
            recipe_key_equal(key, before, now))
            continue;
        recipe_key_copy(key, r, now);
        any = true;
    }
    return any;
}

/* `before`: the defaults that dependent fields still have. */
static void follow_from(rapt_recipe *r, rapt_recipe before)
{
    rapt_recipe now;
    do { /* other defaults may depend on a key that was updated */
        recipe_defaults_of(r, &now);
    } while (recipe_defaults_follow(r, &before, &now) && (before = now, true));
}

void recipe_defaults_of_task(rapt_task task, rapt_recipe *out)
{
    rapt_recipe first;
    recipe_defaults_first(&first);
    *out = first;
    out->task = task;
    follow_from(out, first);
}

rapt_code recipe_defaults_set(const recipe_key *key, rapt_recipe *recipe, const char *text, char reason[RECIPE_REASON])
{
    rapt_recipe before;
    recipe_defaults_of(recipe, &before);
    rapt_code code = recipe_key_set(key, recipe, text, reason);
    if (code == RAPT_OK)
        follow_from(recipe, before);
    return code;
}
