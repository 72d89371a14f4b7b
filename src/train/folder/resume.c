/* train/folder/resume.c: loads the newest checkpoint of a run. */
#include "train/folder/folder_begin.h"

#include "base/file.h"
#include "base/quote.h"
#include "base/rng.h"
#include "io/hub/hub_save.h"
#include "io/lora/lora_file.h"
#include "io/model.h"
#include "io/seal.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_seal.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/folder/folder_check.h"
#include "train/folder/lengthen.h"
#include "train/folder/log.h"
#include "train/folder/retune.h"
#include "train/folder/run_state.h"
#include "train/ranks/ranks_work.h"
#include "train/ranks/run_moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void say_which_key(const run *r, uint64_t step, const rapt_recipe *other, const recipe_key *key, rapt_error *err)
{
    char here[RECIPE_NUMBER], there[RECIPE_NUMBER];
    const bool lacks_init = r->init && !other->train.init; /* as of version 0.1 */
    *err = (rapt_error){0};
    rapt_fail(err, RAPT_ERR_VALUE, "%s: the checkpoint of step %llu belongs to another recipe: %s is \"%s\", and \"%s\" in its "
              "recipe.yaml; to resume with that: rapt train --resume --out %s%s%s", r->options->out, (unsigned long long)step,
              key->name, quote(recipe_key_value(key, r->recipe, here)).text, quote(recipe_key_value(key, other, there)).text,
              r->options->out, lacks_init ? " --init " : "", lacks_init ? quote(r->init).text : "");
}

static void say_not_the_recipe(const run *r, uint64_t step, rapt_error *err)
{
    *err = (rapt_error){0};
    if (recipe_state_in(r->options->out, 0) == RECIPE_CHANGED)
        rapt_fail(err, RAPT_ERR_VALUE,
                  "%s: the checkpoint of step %llu belongs to another recipe, model or data; its recipe.yaml "
                  "was changed since", r->options->out, (unsigned long long)step);
    rapt_fail(err, RAPT_ERR_VALUE, "%s: the checkpoint of step %llu belongs to another model or data%s", r->options->out,
              (unsigned long long)step, *run_pipe_hint(r) ? run_pipe_hint(r)
              : r->init ? "" : "; a run that began with --init is resumed with it");
}

/* Only a hash tells that a checkpoint belongs to another run; the folder's recipe may tell which keys differ. `tuned`: all keys
 * count, as the checkpoint is of a version in which a resumed run could not change any. */
static void explain_refusal(const run *r, uint64_t step, bool tuned, rapt_error *err)
{
    rapt_recipe other;
    if (rapt_recipe_load(r->options->out, &other, NULL) == RAPT_OK) {
        const recipe_key *key = tuned ? recipe_first_difference(r->recipe, &other)
                                      : recipe_first_fixed_difference(r->recipe, &other);
        if (key)
            say_which_key(r, step, &other, key, err);
        else
            say_not_the_recipe(r, step, err);
        rapt_recipe_free(&other);
    }
}

/* The hash that a checkpoint and a run must share. It covers the data, and the recipe keys that decide the result. With --init
 * the sizes do not come from the recipe. */
static uint64_t hash_run(const run *r, uint64_t recipe)
{
    uint64_t hash = rng_mix(rng_mix(recipe, rapt_params_size(r->model->params)), r->task->hash(r));
    hash = r->vectors_hash ? rng_mix(hash, r->vectors_hash) : hash;
    hash = r->base_hash ? rng_mix(hash, r->base_hash) : hash;
    return r->init ? rng_mix(hash, 1) : hash;
}

/* For a damaged checkpoint, tells which earlier one is intact, and how to resume from it. */
static void name_whole_checkpoint(const run *r, rapt_error *err)
{
    checkpoint_list l = {0};
    uint64_t whole = 0;
    const rapt_error why = *err;
    checkpoint_list_read(r->options->out, &l, NULL);
    for (size_t i = l.count; i > 0 && !whole; i--) {
        safetensors *file = NULL;
        char *path = l.steps[i - 1] < r->newest ? checkpoint_path(r->options->out, l.steps[i - 1]) : NULL;
        if (path && safetensors_open(path, &file, NULL) == RAPT_OK)
            whole = l.steps[i - 1];
        safetensors_close(file);
        free(path);
    }
    checkpoint_list_free(&l);
    if (!whole)
        return;
    *err = (rapt_error){0};
    rapt_fail(err, why.code, "%.330s; the checkpoint of step %llu is whole: to resume from it, move that of step %llu away",
              why.message, (unsigned long long)whole, (unsigned long long)r->newest);
}

/* Opens the newest checkpoint, on rank 0 or in the only process. */
static rapt_code open_newest(run *r, checkpoint_file *f, rapt_error *err)
{
    checkpoint_state s = {0};
    checkpoint_wanted wanted = {r->newest, r->recipe_hash, hash_run(r, lengthen_first_hash(r)), r->fixed_hash};
    const moments m = run_moments(r);
    rapt_code code = checkpoint_open(r->options->out, wanted, r->model, &m, &s, f, err);
    if (code == RAPT_ERR_VALUE)
        explain_refusal(r, r->newest, !s.fixed_hash, err);
    if (code == RAPT_ERR_FORMAT)
        name_whole_checkpoint(r, err);
    if (code)
        return code;
    run_state_take(r, &s);
    code = model_check_folder(r->model, r->options->out, err);
    return code ? code : retune_check(r, s.tuned, err);
}

static rapt_code load_newest(run *r, rapt_error *err)
{
    checkpoint_file f = {0};
    moments m = run_moments(r);
    ranks_begin(r);
    rapt_code code = ranks_end(r, run_is_first(r) ? open_newest(r, &f, err) : RAPT_OK, err);
    if (!code)
        code = ranks_give(r, &r->counters, sizeof r->counters, err);
    if (!code)
        code = checkpoint_read(&f, r->newest - r->counters.adam_from, r->model->params, &m, err);
    checkpoint_close(&f);
    return code;
}

static bool same_elements(const safetensors *file, const rapt_model *m)
{
    const rapt_params *set = m->params;
    if (m->lora)
        return lora_file_is_same(m, file);
    if (m->family)
        return hub_save_is_same(m, file);
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        const safetensors_entry *e = p->transient ? NULL : safetensors_find(file, p->value.name);
        const size_t bytes = rapt_tensor_size(&p->value) * sizeof *p->value.data;
        if (!p->transient && (!e || e->bytes != bytes || memcmp(e->data, p->value.data, bytes) != 0))
            return false;
    }
    return true;
}

/* A folder without a checkpoint: a model that is there must be the one that this run starts from, or it would be lost. */
static rapt_code resume_untrained(run *r, rapt_error *err)
{
    safetensors *file = NULL;
    char *path;
    bool there = false, same = false;
    rapt_code code = file_path(r->options->out, model_weights_name(r->model), &path, err);
    if (!code)
        code = file_is_there(path, &there, err);
    if (!code && there && !(code = safetensors_open(path, &file, err)))
        same = same_elements(file, r->model);
    safetensors_close(file);
    free(path);
    return code || !there || same ? code : folder_check_no_checkpoint(r, model_weights_name(r->model), err);
}

rapt_code resume_begin(run *r, rapt_error *err)
{
    r->recipe_hash = hash_run(r, recipe_hash(r->recipe));
    r->fixed_hash = hash_run(r, recipe_hash_fixed(r->recipe));
    r->model->run = r->recipe_hash; /* replaced by the checkpoint's, if there is one */
    r->counters = (run_counters){.val_loss = NAN, .scores = TRAIN_NO_SCORES, .best_val_loss = INFINITY, .best_score = NAN};
    if (r->newest)
        return load_newest(r, err);
    return r->options->resume ? ranks_first(r, resume_untrained, err) : RAPT_OK;
}

rapt_code resume_rewind_log(run *r, rapt_error *err)
{
    const run_counters *c = &r->counters;
    uint64_t reported = c->tokens > 0 ? c->step - 1 : c->step; /* else the report of this step is still to be made */
    return r->options->resume ? log_rewind(r->options->out, reported, r->recipe->train.tensorboard, err) : RAPT_OK;
}

bool resume_model_is_saved(const run *r)
{
    safetensors *file = NULL;
    char *path = file_join(r->options->out, model_weights_name(r->model)), *config = NULL;
    bool same = r->newest == r->counters.step && path && safetensors_open(path, &file, NULL) == RAPT_OK &&
                safetensors_is_checked(file) && seal_text(r->model, path, &config, NULL) == RAPT_OK;
    const char *there = same ? safetensors_metadata(file, SEAL_KEY) : NULL;
    const bool hub = r->model->family && !r->model->lora; /* such folders have no seal */
    const bool sealed = hub || (there && strcmp(there, config) == 0);
    same = same && sealed && same_elements(file, r->model);
    safetensors_close(file);
    free(config);
    free(path);
    return same;
}
