/* train/recipe_init.c: fine-tuning takes a model whole, and its recipe says so. See recipe_init.h. The model knows its shape and
 * its tokenizers; how these were learned, and how it was initialized, stands in its folder's recipe, if there is one. */
#define _GNU_SOURCE
#include "train/recipe_init.h"

#include "base/file.h"
#include "base/quote.h"
#include "train/recipe_defaults.h"
#include "train/recipe_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of model, what a run may have otherwise than the model that it starts from; and the name of several other keys' values. */
static const char *const OWN[] = {"model.preset", "model.dropout", "model.attention_dropout", "model.activation_dropout",
                                  "model.context"};

static bool is_models(const recipe_key *key)
{
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (strcmp(key->name, OWN[i]) == 0)
            return false;
    return strncmp(key->name, "model.", 6) == 0 || strncmp(key->name, "tokenizer.", 10) == 0;
}

static bool read_recipe(const char *folder, const char *name, rapt_recipe_task task, rapt_recipe *out)
{
    char *path = file_join(folder, name);
    bool ok = path && rapt_recipe_read(path, out, NULL) == RAPT_OK;
    if (ok && out->task != task) {
        rapt_recipe_free(out);
        ok = false;
    }
    free(path);
    return ok;
}

/* The recipe that the model was trained by, as far as it is known. best/ and average/ stand in the folder of their run. */
static void find_recipe(const char *folder, rapt_recipe_task task, rapt_recipe *out)
{
    if (!read_recipe(folder, "recipe.yaml", task, out) && !read_recipe(folder, "../recipe.yaml", task, out))
        recipe_defaults_of_task(task, out);
}

/* Initial values are past, and only the recipe knows how they were asked for. */
static void take_shape(rapt_recipe *r, const rapt_model *m)
{
    const rapt_recipe before = *r;
    if (m->task == RAPT_LANGUAGE_MODEL)
        recipe_take_lm(r, &m->lm->config);
    else
        recipe_take_transformer(r, &m->net->config);
    r->model.init = before.model.init;
    r->model.std = before.model.std;
    r->model.embedding_std = before.model.embedding_std;
}

/* A tokenizer from a file can be of any kind. */
static rapt_recipe_tokenizer type_of(const rapt_tokenizer *k, rapt_recipe_tokenizer said)
{
    const rapt_tokenizer_kind kind = rapt_tokenizer_kind_of(k);
    if (said == RAPT_RECIPE_FILE || (kind == RAPT_BYTE_BPE && said > RAPT_RECIPE_FILE))
        return said;
    return kind == RAPT_WORDS ? RAPT_RECIPE_WORDS : kind == RAPT_CHARACTERS ? RAPT_RECIPE_CHARACTERS : RAPT_RECIPE_BPE;
}

static void take_tokenizers(rapt_recipe *r, const rapt_model *m)
{
    const bool pairs = m->task == RAPT_TRANSLATION;
    r->tokenizer.type = type_of(pairs ? m->source : m->tokenizer, r->tokenizer.type);
    if (!pairs)
        return;
    r->tokenizer.shared = m->source == m->target;
    r->tokenizer.detokenize = m->detokenize;
    r->tokenizer.capitalize = m->capitalize;
}

static rapt_code say_conflict(const recipe_key *key, const rapt_recipe *r, const rapt_recipe *models, const char *folder,
                              rapt_error *err)
{
    char here[RECIPE_NUMBER], there[RECIPE_NUMBER];
    const char *mine = recipe_key_value(key, r, here), *theirs = recipe_key_value(key, models, there);
    return rapt_fail(err, RAPT_VALUE, "%s is %s; the model in %s has %s, which fine-tuning keeps: leave the key out",
                     key->name, *mine ? quote(mine).text : "empty", quote(folder).text, *theirs ? quote(theirs).text : "none");
}

/* A kept recipe has absolute paths. */
static bool is_same_file(const char *a, const char *b)
{
    char *one = a ? realpath(a, NULL) : NULL, *other = b ? realpath(b, NULL) : NULL;
    bool same = one && other && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

static rapt_code check_given(const rapt_recipe *recipe, const rapt_recipe *models, const char *folder, rapt_error *err)
{
    rapt_recipe r = *recipe;
    if (r.model.kv_heads == r.model.heads) /* two ways to say it */
        r.model.kv_heads = 0;
    if (is_same_file(r.tokenizer.path, models->tokenizer.path))
        r.tokenizer.path = models->tokenizer.path;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        if (is_models(key) && recipe_key_given(key, recipe) && !recipe_key_equal(key, &r, models))
            return say_conflict(key, recipe, models, folder, err);
    }
    return RAPT_OK;
}

/* Lengths that nobody gave are the model's, where the defaults are too long for it or the model decides. */
static void fit_lengths(rapt_recipe *r, const rapt_model *m)
{
    const bool pairs = m->task == RAPT_TRANSLATION;
    if (pairs && !recipe_key_given(recipe_key_find("data.max_len"), r) && r->data.max_len > r->model.max_positions)
        r->data.max_len = r->model.max_positions;
    if (!pairs && !recipe_key_given(recipe_key_find("model.context"), r))
        r->model.context = (int64_t)m->lm->config.context;
}

/* Makes the texts of a plain copy its own. */
static bool own_texts(rapt_recipe *r)
{
    bool ok = true;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        char **text = (char **)((char *)r + recipe_key_at(i)->offset);
        if (recipe_key_at(i)->kind != RECIPE_TEXT || !*text)
            continue;
        *text = ok ? strdup(*text) : NULL;
        ok = ok && *text;
    }
    return ok;
}

rapt_code recipe_init_take(const rapt_recipe *recipe, const rapt_model *m, const char *folder, rapt_recipe *out, rapt_error *err)
{
    rapt_recipe models, all = *recipe;
    find_recipe(folder, recipe->task, &models);
    take_shape(&models, m);
    take_tokenizers(&models, m);
    rapt_code code = check_given(recipe, &models, folder, err);
    for (size_t i = 0; i < recipe_key_count(); i++)
        if (is_models(recipe_key_at(i)))
            recipe_key_copy(recipe_key_at(i), &all, &models);
    all.model.preset = RAPT_RECIPE_NO_PRESET;
    fit_lengths(&all, m);
    char *name = strdup(folder);
    all.train.init = name;
    if (!code && !(name && own_texts(&all))) {
        rapt_recipe_free(&all);
        code = rapt_fail(err, RAPT_NO_MEMORY, "no memory for a recipe");
    }
    if (!code)
        *out = all;
    free(name);
    rapt_recipe_free(&models);
    return code;
}
