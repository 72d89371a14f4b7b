/* train/run.c: the set-up of a training run, of any task. For the loop in train.c, which it leaves nothing to check. */
#define _GNU_SOURCE
#include "train/run.h"

#include "base/file.h"
#include "base/quote.h"
#include "base/rng.h"
#include "data/text_files.h"
#include "io/model.h"
#include "ops/deferred.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/folder/leftovers.h"
#include "train/folder/log.h"
#include "train/folder/lengthen.h"
#include "train/run_memory.h"
#include "recipe/recipe_compare.h"
#include "recipe/recipe_init.h"
#include "recipe/recipe_seal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_WARNING = 600 };

static bool can_learn(const rapt_params *set)
{
    bool any = false;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        any = any || rapt_params_at(set, i)->value.requires_grad;
    return any;
}

static rapt_code freeze(run *r, rapt_error *err)
{
    char *patterns = r->recipe->train.freeze ? strdup(r->recipe->train.freeze) : NULL, *rest = patterns;
    rapt_code code = RAPT_OK;
    for (char *p; !code && rest && (p = strsep(&rest, ","));)
        if (*p && rapt_params_freeze(r->model->params, p) == 0)
            code = rapt_fail(err, RAPT_ERR_VALUE, "train.freeze: no parameter is called \"%s\"", p);
    free(patterns);
    if (!code && !can_learn(r->model->params))
        code = rapt_fail(err, RAPT_ERR_VALUE, "train.freeze: nothing is left to train");
    return code;
}

static rapt_code make_tape(run *r, rapt_error *err)
{
    rapt_tape_options o = {.threads = r->options->threads, .precision = r->recipe->train.precision};
    r->tape = rapt_tape_new(&o, err);
    if (!r->tape)
        return err->code;
    tape_defer_gradients(r->tape, r->recipe->train.accumulate == 1); /* those of several batches are added up */
    return RAPT_OK;
}

static rapt_code make_adam(run *r, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    rapt_adam_options adam = {.beta1 = k->train.beta1 > 0 ? k->train.beta1 : -1, /* the recipe says 0 for 0 */
                              .beta2 = k->train.beta2 > 0 ? k->train.beta2 : -1, .eps = k->train.eps,
                              .weight_decay = k->train.weight_decay, .lazy = k->train.lazy};
    r->steps = lengthen_steps(r, k);
    r->adam = rapt_adam_new(r->model->params, &adam, err);
    return r->adam ? RAPT_OK : RAPT_ERR_MEMORY;
}

double run_normalizer(const rapt_recipe *recipe)
{
    return recipe->train.accumulate == 1 ? 0 : 1;
}

rapt_code run_pass(run *r, const train_batch *batch, rapt_pass pass, double normalizer, rapt_loss_sums *parts, rapt_error *err)
{
    bool book = r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK;
    pass.examples = batch->examples;
    pass.seed = (uint64_t)r->recipe->seed;
    pass.recompute = r->recipe->train.recompute;
    rapt_tape_begin(r->tape, pass);
    rapt_loss_options o = {.label_smoothing = pass.training ? r->recipe->train.label_smoothing : 0,
                           .valid_lens = batch->valid_lens,
                           .normalizer = book ? (double)batch->labels.time : normalizer};
    rapt_tensor *loss = r->task->loss(r, batch, &o, parts);
    if (pass.record)
        return rapt_backward(r->tape, loss, err);
    return rapt_tape_status(r->tape, err);
}

rapt_code run_make_model(run *r, uint64_t seed, rapt_error *err)
{
    rapt_code code = r->task->make(r, seed, err);
    return code ? code : freeze(r, err);
}

void run_drop_model(run *r)
{
    rapt_transformer_free(r->model->net);
    rapt_lm_free(r->model->lm);
    r->model->net = NULL;
    r->model->lm = NULL;
    r->model->params = NULL;
}

/* Shapes first: what a run takes is known, and told, before it is taken. */
static rapt_code run_do_make_model(run *r, rapt_error *err)
{
    uint64_t seed = (uint64_t)r->recipe->seed;
    bool loaded = r->init != NULL;
    rapt_code code = run_make_model(r, loaded ? seed : RAPT_SEED_SHAPES, err);
    if (!code)
        code = memory_check(r, err);
    if (!code)
        code = run_stopped(r, err);
    if (code || loaded)
        return code;
    run_drop_model(r);
    run_phase(r, "making the model", 0, 0);
    return run_make_model(r, seed, err);
}

rapt_code run_write(const run *r, const char *name, const char *text, size_t size, rapt_error *err)
{
    char *path = file_join(r->options->out, name);
    rapt_code code = path ? file_write_atomic(path, text, size, err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "%s: no memory", r->options->out);
    free(path);
    return code;
}

static rapt_code write_recipe(const run *r, const char *yaml, rapt_error *err)
{
    char *text = recipe_sealed(yaml, r->model->run);
    rapt_code code = text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "no memory");
    if (!code)
        code = run_write(r, "recipe.yaml", text, strlen(text), err);
    free(text);
    return code;
}

static rapt_code write_folder(const run *r, const char *yaml, rapt_error *err)
{
    const char *out = r->options->out;
    rapt_code code = rapt_model_save_config(r->model, out, err);
    if (!code)
        code = write_recipe(r, yaml, err);
    return code ? code : r->task->write(r, err);
}

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
              (unsigned long long)step, r->init ? "" : "; a run that began with --init goes on with it");
}

/* That a checkpoint is of another run is known by a number; the folder's recipe may tell in what they differ. */
static void explain_refusal(const run *r, uint64_t step, rapt_error *err)
{
    rapt_recipe other;
    if (rapt_recipe_load(r->options->out, &other, NULL) == RAPT_OK) {
        const recipe_key *key = recipe_first_difference(r->recipe, &other);
        if (key)
            say_which_key(r, step, &other, key, err);
        else
            say_not_the_recipe(r, step, err);
        rapt_recipe_free(&other);
    }
}

/* What a checkpoint must have in common with a run: the data, and the keys that decide what is learned. With --init the sizes
 * are not the recipe's. */
static uint64_t hash_run(const run *r, uint64_t recipe)
{
    uint64_t hash = rng_mix(rng_mix(recipe, rapt_params_size(r->model->params)), r->task->hash(r));
    return r->init ? rng_mix(hash, 1) : hash;
}

/* A run that stopped before its first checkpoint starts again. */
static rapt_code load_newest(run *r, rapt_error *err)
{
    checkpoint_wanted wanted = {r->newest, r->state.recipe_hash, hash_run(r, lengthen_first_hash(r))};
    rapt_code code = RAPT_OK;
    if (r->newest)
        code = checkpoint_load(r->options->out, wanted, r->model, r->adam, &r->state, err);
    if (code == RAPT_ERR_VALUE)
        explain_refusal(r, r->newest, err);
    return code || !r->newest ? code : model_check_folder(r->model, r->options->out, err);
}

static rapt_code rewind_log(const run *r, rapt_error *err)
{
    uint64_t reported = r->state.tokens > 0 ? r->state.step - 1 : r->state.step; /* else this step's report is to be made */
    return log_rewind(r->options->out, reported, err);
}

/* realpath, or a copy where nothing has this name; NULL with errno set. */
static char *absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    bool nothing = !whole && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
    return nothing ? strdup(path) : whole;
}

/* Writes the first `size` bytes of a path, absolute where it exists. */
static bool write_absolute(FILE *out, const char *path, size_t size)
{
    char *copy = strndup(path, size), *whole = copy ? absolute(copy) : NULL;
    bool ok = whole && fputs(whole, out) >= 0;
    free(whole);
    free(copy);
    return ok;
}

/* A copy of a list of paths with : between them; NULL with errno set. */
static char *absolute_list(const char *list)
{
    char *copy = NULL;
    size_t length, size;
    FILE *out = open_memstream(&copy, &length);
    bool ok = out != NULL;
    for (const char *path = list; ok; path += size + 1) {
        size = strcspn(path, ":");
        ok = write_absolute(out, path, size);
        if (!ok || !path[size])
            break;
        putc(':', out);
    }
    int reason = errno;
    if (out && fclose(out) == 0 && ok)
        return copy;
    free(copy);
    errno = reason;
    return NULL;
}

/* Replaces a borrowed path, or list of paths, by an owned one that holds in any folder; by NULL on failure. */
static bool make_absolute(char **path, rapt_error *err)
{
    const char *given = *path;
    bool there = true;
    if (!given)
        return true;
    *path = NULL;
    if (strchr(given, ':') && file_is_there(given, &there, err) != RAPT_OK)
        return false;
    *path = there ? absolute(given) : absolute_list(given);
    if (!*path)
        rapt_fail(err, errno == ENOMEM ? RAPT_ERR_MEMORY : RAPT_ERR_IO, "cannot look at %.380s: %s", given, strerror(errno));
    return *path != NULL;
}

/* The recipe for the folder; its data has an absolute path, so that the folder can be moved. */
static rapt_code format_recipe(const run *r, char **yaml, rapt_error *err)
{
    rapt_recipe kept = *r->recipe;
    bool pairs = make_absolute(&kept.data.pairs, err), valid = make_absolute(&kept.data.validation, err);
    bool text = make_absolute(&kept.data.text, err);
    bool path = make_absolute(&kept.tokenizer.path, err), init = make_absolute(&kept.train.init, err);
    bool ok = pairs && valid && text && path && init;
    rapt_code code = ok ? rapt_recipe_format(&kept, yaml, err) : err->code;
    free(kept.data.pairs);
    free(kept.data.validation);
    free(kept.data.text);
    free(kept.tokenizer.path);
    free(kept.train.init);
    return code;
}

/* The recipe that the folder keeps is of the run as it is now: read before it is written. */
static rapt_code prepare_folder(run *r, rapt_error *err)
{
    char *yaml;
    rapt_code code = format_recipe(r, &yaml, err);
    if (code)
        return code;
    r->state = (checkpoint_state){.recipe_hash = hash_run(r, recipe_hash(r->recipe)), .best_val_loss = INFINITY,
                                  .val_loss = NAN};
    r->model->run = r->state.recipe_hash; /* a checkpoint knows better, where there is one */
    if (r->options->resume)
        code = load_newest(r, err);
    if (!code)
        code = lengthen_check(r, err);
    if (!code && r->options->resume)
        code = rewind_log(r, err);
    if (!code) {
        leftovers_remove(r->options->out, r->options->resume);
        code = write_folder(r, yaml, err);
    }
    free(yaml);
    return code;
}

static rapt_code holds(const char *folder, const char *name, bool *there, rapt_error *err)
{
    char *path = file_join(folder, name);
    rapt_code code = path ? file_is_there(path, there, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: no memory", folder);
    free(path);
    return code;
}

/* A file of the folder that a run would write over; *name stays NULL where there is none. */
static rapt_code would_be_lost(const run *r, const char **name, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    bool pairs = k->task == RAPT_TASK_TRANSLATION, held_out = k->data.validation_fraction > 0 || k->data.validation,
        several = false;
    rapt_code code = pairs ? RAPT_OK : text_files_are_several(k->data.text, &several, err);
    const struct {
        const char *name;
        bool written;
    } files[] = {{"config.json", true},
                 {"model.safetensors", true},
                 {"recipe.yaml", true},
                 {"train.jsonl", true},
                 {"source.tokenizer.json", pairs},
                 {"target.tokenizer.json", pairs},
                 {"tokenizer.json", !pairs},
                 {"best", held_out},
                 {"held-out.tsv", pairs && held_out},
                 {"text.txt", several}};
    for (size_t i = 0; i < sizeof files / sizeof *files && !code && !*name; i++) {
        bool there = false;
        if (files[i].written)
            code = holds(r->options->out, files[i].name, &there, err);
        *name = !code && there ? files[i].name : NULL;
    }
    return code;
}

/* What only a run that got further leaves: its steps would be lost if it started again. A log without a line is none. */
static rapt_code was_trained(const run *r, const char **name, rapt_error *err)
{
    static const char *const names[] = {"model.safetensors", "best"};
    bool there = false;
    rapt_code code = log_has_lines(r->options->out, &there, err);
    *name = !code && there ? "train.jsonl" : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !code && !*name; i++) {
        code = holds(r->options->out, names[i], &there, err);
        *name = !code && there ? names[i] : NULL;
    }
    return code;
}

static rapt_code check_resumable(const run *r, rapt_error *err)
{
    const char *out = r->options->out, *name = NULL;
    rapt_code code = r->newest ? RAPT_OK : was_trained(r, &name, err);
    if (code || !name)
        return code;
    return rapt_fail(err, RAPT_ERR_VALUE,
                     "%s holds %s but no checkpoint to resume from: bring back its folder \"checkpoints\", or "
                     "choose another folder to start again", out, name);
}

static rapt_code check_unused(const run *r, rapt_error *err)
{
    const char *out = r->options->out, *name = NULL;
    if (r->newest)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s holds checkpoints of an earlier run: --resume continues it; or choose another "
                         "folder", out);
    rapt_code code = would_be_lost(r, &name, err);
    if (code || !name)
        return code;
    const char *trained = NULL;
    code = was_trained(r, &trained, err);
    return code ? code : rapt_fail(err, RAPT_ERR_VALUE, "%s holds %s and no checkpoint: choose another folder%s", out, name,
                                   trained ? "" : ", or where a run stopped early, --resume to start it again");
}

rapt_code run_take_init(run *r, rapt_error *err)
{
    const char *resumed = r->options->resume && r->newest ? r->options->out : NULL;
    rapt_code code = recipe_init_take(r->options->recipe, r->model, r->init, resumed, &r->own, err);
    if (!code)
        r->recipe = &r->own;
    return code;
}

void run_warn(const run *r, const char *format, ...)
{
    char text[RUN_WARNING];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r->options->on_warning)
        r->options->on_warning(r->options->context, text);
}

/* Asked first: tasks may write into the folder before everything else is checked. What can't be looked at may be anything. */
static rapt_code run_check_folder(run *r, rapt_error *err)
{
    checkpoint_list l;
    rapt_code code = checkpoint_list_read(r->options->out, &l, err);
    r->newest = checkpoint_list_newest(&l);
    checkpoint_list_free(&l);
    if (code)
        return code;
    return r->options->resume ? check_resumable(r, err) : check_unused(r, err);
}

static rapt_code take_folder(run *r, rapt_error *err)
{
    rapt_code code = folder_lock_take(&r->lock, r->options->out, err);
    return code ? code : run_check_folder(r, err);
}

static rapt_code read_data(run *r, rapt_error *err)
{
    run_phase(r, "reading the data", 0, 0);
    rapt_code code = r->task->open(r, err);
    if (!code)
        code = run_stopped(r, err);
    return code ? code : r->task->load(r, err);
}

static rapt_code make_adam_and_batches(run *r, rapt_error *err)
{
    rapt_code code = make_adam(r, err);
    return code || !r->task->start ? code : r->task->start(r, err);
}

rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err)
{
    static rapt_code (*const parts[])(run *, rapt_error *) = {take_folder, read_data, make_tape, run_do_make_model,
                                                              make_adam_and_batches, prepare_folder};
    *r = (run){.options = options, .recipe = options->recipe, .val_bleu = NAN,
               .init = options->init ? options->init : options->recipe->train.init};
    r->task = r->recipe->task == RAPT_TASK_TRANSLATION ? &train_translation : &train_language_model;
    rapt_code code = rapt_recipe_check(r->recipe, "the recipe", err);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++) {
        code = run_stopped(r, err);
        code = code ? code : parts[i](r, err);
    }
    if (!code || err->code != RAPT_ERR_INTERRUPTED)
        return code;
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped before %s step; the folder is as it was",
                     r->newest ? "another" : "the first");
}

void run_free(run *r)
{
    rapt_adam_free(r->adam);
    rapt_tape_free(r->tape);
    if (r->data)
        r->task->close(r);
    rapt_model_free(r->model);
    folder_lock_release(&r->lock);
    if (r->recipe == &r->own)
        rapt_recipe_free(&r->own);
}
