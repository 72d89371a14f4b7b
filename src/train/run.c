/* train/run.c: the set-up of a training run. For the loop in train.c, which it leaves nothing to check. */
#define _GNU_SOURCE
#include "train/run.h"

#include "base/file.h"
#include "base/rng.h"
#include "train/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rapt_words_options words_options(const rapt_recipe *r)
{
    return (rapt_words_options){r->tokenizer.lowercase, (size_t)r->tokenizer.min_freq, (size_t)r->tokenizer.max_size};
}

/* The lines of one side, or of both, that the vocabulary is made from: those of the training part. */
static const char **training_lines(const run *r, bool source, bool target, size_t *count)
{
    size_t n = rapt_pairs_count(r->pairs);
    const char **lines = malloc(2 * n * sizeof *lines);
    *count = 0;
    for (size_t i = 0; lines && i < n; i++) {
        if (rapt_pairs_held_out(r->pairs, i, r->recipe->data.held_out))
            continue;
        if (source)
            lines[(*count)++] = rapt_pairs_source(r->pairs, i);
        if (target)
            lines[(*count)++] = rapt_pairs_target(r->pairs, i);
    }
    return lines;
}

static rapt_tokenizer *make_tokenizer(const run *r, bool source, bool target, rapt_error *err)
{
    size_t count;
    rapt_words_options o = words_options(r->recipe);
    const char **lines = training_lines(r, source, target, &count);
    rapt_tokenizer *k = lines ? rapt_tokenizer_train_words(lines, count, &o, err) : NULL;
    if (!lines)
        rapt_fail(err, RAPT_NO_MEMORY, "no memory for the vocabularies");
    free(lines);
    return k;
}

static rapt_code make_tokenizers(run *r, rapt_error *err)
{
    bool shared = r->recipe->tokenizer.shared;
    r->model->source = make_tokenizer(r, true, shared, err);
    if (r->model->source)
        r->model->target = shared ? r->model->source : make_tokenizer(r, false, true, err);
    return r->model->target ? RAPT_OK : RAPT_NO_MEMORY;
}

static rapt_transformer_config model_config(const run *r)
{
    const rapt_recipe *k = r->recipe;
    rapt_transformer_config c = {.source_vocab = rapt_tokenizer_size(r->model->source),
                                 .target_vocab = rapt_tokenizer_size(r->model->target),
                                 .layers = (size_t)k->model.layers,
                                 .max_positions = (size_t)k->model.max_positions,
                                 .scale_embedding = k->model.scale_embedding,
                                 .tied = k->model.tied,
                                 .embedding_std = k->model.embedding_std};
    c.block = (rapt_block_config){.d_model = (size_t)k->model.d_model, .heads = (size_t)k->model.heads,
                                  .ffn = (size_t)k->model.ffn, .bias = k->model.bias, .dropout = k->model.dropout,
                                  .norm = k->model.norm == RAPT_RECIPE_PRE ? RAPT_PRE_NORM : RAPT_POST_NORM,
                                  .init = k->model.init == RAPT_RECIPE_XAVIER ? RAPT_LINEAR_XAVIER : RAPT_LINEAR_PYTORCH};
    return c;
}

/* Fine-tuning takes the other model whole, but for what training decides. */
static rapt_code load_init(run *r, rapt_error *err)
{
    r->model = rapt_model_load(r->options->init, err);
    if (!r->model)
        return RAPT_FORMAT;
    size_t most = r->model->net->config.max_positions;
    if ((uint64_t)r->recipe->data.max_len > most)
        return rapt_fail(err, RAPT_VALUE, "data.max_len is %lld; the model in %s has %zu positions",
                         (long long)r->recipe->data.max_len, r->options->init, most);
    rapt_transformer_set_dropout(r->model->net, r->recipe->model.dropout);
    return RAPT_OK;
}

static rapt_code make_model(run *r, rapt_error *err)
{
    if (r->options->init)
        return load_init(r, err);
    r->model = calloc(1, sizeof *r->model);
    if (!r->model)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a model");
    rapt_code code = make_tokenizers(r, err);
    if (code)
        return code;
    rapt_transformer_config config = model_config(r);
    r->model->net = rapt_transformer_new(&config, (uint64_t)r->recipe->seed, err);
    return r->model->net ? RAPT_OK : RAPT_VALUE;
}

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
        if (*p && rapt_params_freeze(r->model->net->params, p) == 0)
            code = rapt_fail(err, RAPT_VALUE, "train.freeze: no parameter is called \"%s\"", p);
    free(patterns);
    if (!code && !can_learn(r->model->net->params))
        code = rapt_fail(err, RAPT_VALUE, "train.freeze: nothing is left to train");
    return code;
}

static rapt_dataset *make_dataset(const run *r, bool held_out, rapt_error *err)
{
    static const rapt_too_long policy[] = {RAPT_CUT, RAPT_DROP, RAPT_REFUSE};
    rapt_dataset_options o = {.max_len = (size_t)r->recipe->data.max_len, .too_long = policy[r->recipe->data.too_long],
                              .pad_to_max = r->recipe->data.pad == RAPT_RECIPE_PAD_FIXED, .held_out = held_out,
                              .fraction = r->recipe->data.held_out};
    return rapt_dataset_new(r->pairs, r->model->source, r->model->target, &o, err);
}

static rapt_code make_loaders(run *r, rapt_error *err)
{
    size_t batch = (size_t)r->recipe->train.batch;
    r->train = make_dataset(r, false, err);
    if (r->train)
        r->loader = rapt_loader_new(r->train, batch, true, (uint64_t)r->recipe->seed, err);
    if (r->loader && r->recipe->data.held_out > 0) {
        r->held_out = make_dataset(r, true, err);
        r->held_out_loader = r->held_out ? rapt_loader_new(r->held_out, batch, false, 0, err) : NULL;
    }
    bool ok = r->loader && (r->held_out_loader || !(r->recipe->data.held_out > 0));
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the data");
}

static void plan_steps(run *r)
{
    r->steps_per_epoch = rapt_dataset_batches(r->train, (size_t)r->recipe->train.batch);
    uint64_t wish = (uint64_t)r->recipe->train.steps;
    r->steps = wish ? wish : (uint64_t)r->recipe->train.epochs * r->steps_per_epoch;
    r->model->max_len = (size_t)r->recipe->data.max_len;
    r->model->pad_to_max = r->recipe->data.pad == RAPT_RECIPE_PAD_FIXED;
}

static rapt_code make_machinery(run *r, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    rapt_adam_options adam = {k->train.beta1, k->train.beta2, k->train.eps, k->train.weight_decay};
    r->tape = rapt_tape_new(&(rapt_tape_options){.threads = r->options->threads}, err);
    r->adam = r->tape ? rapt_adam_new(r->model->net->params, &adam, err) : NULL;
    return r->adam ? RAPT_OK : RAPT_NO_MEMORY;
}

rapt_code run_pass(run *r, const rapt_batch *batch, rapt_pass pass, rapt_loss_parts *parts, rapt_error *err)
{
    if (!batch)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for a batch");
    pass.examples = batch->examples;
    pass.seed = (uint64_t)r->recipe->seed;
    rapt_tape_begin(r->tape, pass);
    rapt_tensor *logits = rapt_transformer_forward(r->tape, r->model->net, batch->source, batch->source_lens, batch->inputs);
    bool book = r->recipe->train.reduction == RAPT_RECIPE_BOOK;
    rapt_loss_options o = {.label_smoothing = pass.training ? r->recipe->train.label_smoothing : 0,
                           .valid_lens = batch->target_lens, .normalizer = book ? (double)batch->labels.time : 0};
    rapt_tensor *loss = rapt_cross_entropy(r->tape, logits, batch->labels, &o, parts);
    if (pass.record)
        return rapt_backward(r->tape, loss, err);
    const rapt_error *failure = rapt_tape_error(r->tape);
    return failure->code ? rapt_fail(err, failure->code, "%s", failure->message) : RAPT_OK;
}

static size_t parameter_bytes(const rapt_params *set)
{
    size_t n = 0;
    for (size_t i = 0; i < rapt_params_count(set); i++)
        n += rapt_tensor_size(&rapt_params_at(set, i)->value) * sizeof(rapt_real);
    return n;
}

/* Runs the largest batch once, without a step, and reports what it took. */
static rapt_code plan_memory(run *r, rapt_error *err)
{
    rapt_loss_parts parts;
    rapt_params *set = r->model->net->params;
    rapt_code code = run_pass(r, rapt_loader_largest(r->loader), (rapt_pass){.record = true, .training = true}, &parts, err);
    if (code)
        return code;
    rapt_params_zero_grad(set);
    rapt_memory_plan plan = {.parameters = parameter_bytes(set), .gradients = rapt_params_size(set) * sizeof(rapt_real),
                             .moments = 2 * rapt_params_size(set) * sizeof(rapt_real),
                             .activations = rapt_tape_memory(r->tape), .parameter_count = rapt_params_size(set),
                             .examples = rapt_dataset_count(r->train), .dropped = rapt_dataset_dropped(r->train),
                             .held_out = r->held_out ? rapt_dataset_count(r->held_out) : 0,
                             .source_vocab = rapt_tokenizer_size(r->model->source),
                             .target_vocab = rapt_tokenizer_size(r->model->target)};
    if (r->options->on_plan)
        r->options->on_plan(r->options->context, &plan);
    return RAPT_OK;
}

static rapt_code write_text(const char *folder, const char *name, const char *text, size_t size, rapt_error *err)
{
    char *path = file_join(folder, name);
    rapt_code code = path ? file_write_atomic(path, text, size, err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", folder);
    free(path);
    return code;
}

static rapt_code write_held_out(const run *r, rapt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < rapt_pairs_count(r->pairs); i++)
        if (rapt_pairs_held_out(r->pairs, i, r->recipe->data.held_out))
            fprintf(out, "%s\t%s\n", rapt_pairs_source(r->pairs, i), rapt_pairs_target(r->pairs, i));
    rapt_code code = out && fclose(out) == 0 ? write_text(r->options->out, "held-out.tsv", text, size, err)
                                             : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the held-out part");
    free(text);
    return code;
}

static rapt_code write_folder(const run *r, const char *yaml, rapt_error *err)
{
    const char *out = r->options->out;
    rapt_code code = file_make_dir(out, err);
    if (!code)
        code = rapt_model_save_config(r->model, out, err);
    if (!code)
        code = write_text(out, "recipe.yaml", yaml, strlen(yaml), err);
    if (!code && r->held_out)
        code = write_held_out(r, err);
    return code;
}

/* A run that stopped before its first checkpoint starts again. */
static rapt_code resume(run *r, rapt_error *err)
{
    uint64_t hash = r->state.recipe_hash, step = checkpoint_newest(r->options->out);
    rapt_code code = RAPT_OK;
    if (step)
        code = checkpoint_load(r->options->out, step, r->model->net->params, r->adam, &r->state, err);
    if (!code && r->state.recipe_hash != hash)
        code = rapt_fail(err, RAPT_VALUE, "%s: the checkpoint of step %llu belongs to another recipe, model or data (see its "
                         "recipe.yaml)", r->options->out, (unsigned long long)step);
    return code ? code : log_rewind(r->options->out, r->state.step, err);
}

/* What a checkpoint must have in common with a run: the recipe but for the place of its data, and the data. */
static rapt_code hash_recipe(const run *r, uint64_t *hash, rapt_error *err)
{
    char *yaml;
    rapt_recipe bare = *r->recipe;
    bare.data.pairs = (char[]){"data"};
    rapt_code code = rapt_recipe_format(&bare, &yaml, err);
    *hash = code ? 0 : rng_mix(rng_hash_text(yaml), rapt_params_size(r->model->net->params));
    for (size_t i = 0; i < rapt_pairs_count(r->pairs) && !code; i++)
        *hash = rng_mix(*hash, rng_hash_text(rapt_pairs_source(r->pairs, i)) ^
                                   rng_mix(1, rng_hash_text(rapt_pairs_target(r->pairs, i))));
    free(yaml);
    return code;
}

/* The recipe for the folder; its data has an absolute path, so that the folder can be moved. */
static rapt_code format_recipe(const run *r, char **yaml, rapt_error *err)
{
    rapt_recipe kept = *r->recipe;
    kept.data.pairs = realpath(r->recipe->data.pairs, NULL);
    if (!kept.data.pairs)
        kept.data.pairs = strdup(r->recipe->data.pairs);
    rapt_code code = kept.data.pairs ? rapt_recipe_format(&kept, yaml, err) : rapt_fail(err, RAPT_NO_MEMORY, "no memory");
    free(kept.data.pairs);
    return code;
}

static rapt_code prepare_folder(run *r, rapt_error *err)
{
    char *yaml;
    uint64_t hash;
    rapt_code code = hash_recipe(r, &hash, err);
    if (code || (code = format_recipe(r, &yaml, err)))
        return code;
    r->state = (checkpoint_state){.recipe_hash = hash,
                                  .best_val_loss = INFINITY, .val_loss = NAN};
    if (r->options->resume)
        code = resume(r, err);
    else if (checkpoint_newest(r->options->out))
        code = rapt_fail(err, RAPT_VALUE, "%s holds checkpoints of an earlier run: go on with --resume, or choose another folder",
                         r->options->out);
    else if (file_exists(r->options->out))
        code = log_rewind(r->options->out, 0, err);
    if (!code)
        code = write_folder(r, yaml, err);
    free(yaml);
    return code;
}

rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err)
{
    *r = (run){.options = options, .recipe = options->recipe};
    r->pairs = rapt_pairs_read(r->recipe->data.pairs, (size_t)r->recipe->data.limit, err);
    rapt_code code = r->pairs ? make_model(r, err) : err->code;
    if (!code)
        code = freeze(r, err);
    if (!code)
        code = make_loaders(r, err);
    if (code)
        return code;
    plan_steps(r);
    code = make_machinery(r, err);
    if (!code)
        code = plan_memory(r, err);
    return code ? code : prepare_folder(r, err);
}

void run_free(run *r)
{
    rapt_adam_free(r->adam);
    rapt_tape_free(r->tape);
    rapt_loader_free(r->loader);
    rapt_loader_free(r->held_out_loader);
    rapt_dataset_free(r->train);
    rapt_dataset_free(r->held_out);
    rapt_model_free(r->model);
    rapt_pairs_free(r->pairs);
}
