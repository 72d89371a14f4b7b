/* train/task/task_language_model.c: what a run needs to know about language models: a text as a mapped token file, windows of
 * it, a tokenizer and a decoder-only model. For a run, which calls it through its table. */
#include "train/run.h"

#include "base/chars.h"
#include "base/memory_stream.h"
#include "base/rng.h"
#include "decode/generator.h"
#include "decode/prompt.h"
#include "io/model.h"
#include "recipe/recipe_model.h"
#include "text/chat/chatml.h"
#include "train/task/task_language_model.h"
#include "train/task/text_data.h"
#include "train/step_passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model ------------------------------------------------------------------------------------------------ */

static const char *prompt_of(const run *r)
{
    return r->recipe->train.sample_prompt ? r->recipe->train.sample_prompt : "\n";
}

rapt_code task_language_model_load_init(run *r, rapt_error *err)
{
    rapt_code code = run_load_init(r, RAPT_TASK_LANGUAGE_MODEL, err);
    if (code)
        return code;
    size_t max = r->model->language.net->config.context;
    if ((uint64_t)r->recipe->model.context > max)
        return rapt_fail(err, RAPT_ERR_VALUE, "model.context is %lld; the model in %s has %zu positions",
                         (long long)r->recipe->model.context, r->init, max);
    rapt_lm_set_dropouts(r->model->language.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

rapt_code task_language_model_check_prompt(const run *r, rapt_error *err)
{
    prompt p;
    rapt_error reason = {0};
    const char *text = prompt_of(r);
    if (r->recipe->train.sample_every == 0)
        return RAPT_OK;
    if (prompt_encode(r->model, text, strlen(text), &p, &reason) != RAPT_OK)
        return rapt_fail(err, reason.code, "train.sample_prompt: %s", reason.message);
    free(p.ids);
    return RAPT_OK;
}

/* Without a tokenizer yet. */
static rapt_code task_language_model_start_model(run *r, rapt_error *err)
{
    r->model = calloc(1, sizeof *r->model);
    if (!r->model)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
    r->model->task = RAPT_TASK_LANGUAGE_MODEL;
    return RAPT_OK;
}

static rapt_code task_language_model_make_net(run *r, const text_data *d, uint64_t seed, rapt_error *err)
{
    bool by_text = r->recipe->model.vocab == RAPT_RECIPE_VOCAB_TEXT;
    size_t vocab = by_text ? (size_t)rapt_token_file_max_id(d->tokens) + 1 : rapt_tokenizer_size(r->model->language.tokenizer);
    rapt_lm_config config = recipe_lm_config(r->recipe, vocab);
    r->model->language.net = rapt_lm_new(&config, seed, err);
    if (!r->model->language.net)
        return err->code;
    r->model->params = r->model->language.net->params;
    model_default_end_of_text(r->model);
    if (r->recipe->tokenizer.chat == RAPT_RECIPE_CHAT_CHATML && !r->model->chat_template && /* the net is made twice */
        !(r->model->chat_template = chars_copy(CHATML_TEMPLATE)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a chat template");
    rapt_lm_set_dropouts(r->model->language.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

rapt_code task_language_model_check_ids(const run *r, const char *name, int32_t largest, rapt_error *err)
{
    const size_t vocab = r->model->language.net->config.vocab;
    if ((size_t)largest < vocab)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: token %d occurs; the model knows %zu", name, largest, vocab);
}

void task_language_model_make_sparse(run *r)
{
    rapt_lm *m = r->model->language.net;
    const size_t rows = (size_t)r->recipe->train.batch * (r->recipe->data.preferences ? 2 : 1);
    const size_t tokens = rows * (size_t)(r->recipe->model.context * r->recipe->train.accumulate);
    if (!m->config.tied && m->config.vocab > 8 * tokens && r->recipe->train.lora.rank == 0)
        rapt_param_make_sparse(m->params, m->input.embedding.weight);
}

static rapt_code open_text(run *r, rapt_error *err)
{
    text_data *d = r->data = calloc(1, sizeof *d);
    if (!d)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    rapt_code code = text_data_find(r, d, err);
    if (!code)
        code = r->init ? task_language_model_load_init(r, err) : task_language_model_start_model(r, err);
    return code || !run_is_first(r) ? code : text_data_make(r, d, err);
}

static rapt_code share_text(run *r, rapt_error *err)
{
    return text_data_share(r, r->data, err);
}

static rapt_code make_lm(run *r, uint64_t seed, rapt_error *err)
{
    const text_data *d = r->data;
    rapt_code code = r->init ? RAPT_OK : task_language_model_make_net(r, d, seed, err);
    if (!code)
        code = task_language_model_check_ids(r, d->text, text_data_max_id(d), err);
    if (!code)
        code = task_language_model_check_prompt(r, err);
    if (!code)
        task_language_model_make_sparse(r);
    return code;
}

static void close_text(run *r)
{
    text_data_close(r->data);
}

/* ---- windows -------------------------------------------------------------------------------------------------- */

static rapt_token_range training_range(const run *r, const text_data *d)
{
    return rapt_token_range_training(d->tokens, 1 - r->recipe->data.validation_fraction);
}

/* The validation set, or as much of it as reports evaluate. */
static rapt_token_range validation_range(const run *r, const text_data *d)
{
    rapt_token_range range = d->valid ? rapt_token_range_validation(d->valid, 0)
                                      : rapt_token_range_validation(d->tokens, 1 - r->recipe->data.validation_fraction);
    size_t max = (size_t)r->recipe->data.validation_tokens;
    if (max > 0 && range.end - range.begin > max + 1)
        range.end = range.begin + max + 1;
    return range;
}

static rapt_code check_token_range(const run *r, const rapt_token_range *range, bool validation, rapt_error *err)
{
    const long long tokens = (long long)(range->end - range->begin), context = r->recipe->model.context;
    if (tokens > context)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: the %s split has %lld tokens; a window of model.context %lld needs %lld%s",
                     r->recipe->data.text, validation ? "validation" : "training", tokens, context, context + 1,
                     validation ? " (data.validation_fraction is its share; 0: no validation)" : "");
}

static rapt_code load_windows(run *r, rapt_error *err)
{
    text_data *d = r->data;
    const rapt_recipe *k = r->recipe;
    rapt_token_range train = training_range(r, d);
    rapt_token_range validation = validation_range(r, d);
    rapt_code code = text_data_hash(r, d, err);
    if (!code)
        code = check_token_range(r, &train, false, err);
    if (!code && run_validates(r))
        code = check_token_range(r, &validation, true, err);
    size_t tokens = (size_t)k->model.context * step_drawn_rows(k);
    r->batches_per_epoch = (train.end - train.begin + tokens - 1) / tokens;
    return code;
}

static rapt_code make_windows(run *r, rapt_error *err)
{
    text_data *d = r->data;
    const rapt_recipe *k = r->recipe;
    const size_t context = (size_t)k->model.context;
    rapt_token_range train = training_range(r, d);
    rapt_token_range validation = validation_range(r, d);
    d->train = rapt_windows_new(d->tokens, &train, context, step_drawn_rows(k), (uint64_t)k->seed, err);
    if (d->train && run_validates(r))
        d->validation = rapt_windows_new(d->valid ? d->valid : d->tokens, &validation, context, step_pass_rows(k), 0, err);
    if (!d->train || (!d->validation && run_validates(r)))
        return err->code;
    r->validation_batches = d->validation ? rapt_windows_batches(d->validation) : 0;
    return RAPT_OK;
}

static rapt_code task_language_model_take(const rapt_window_batch *b, train_batch *out, rapt_error *err)
{
    if (!b)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    *out = (train_batch){.inputs = b->inputs, .labels = b->labels, .valid_lens = b->valid_lens, .examples = b->examples,
                         .tokens = b->tokens};
    return RAPT_OK;
}

static rapt_code window_batch(run *r, uint64_t index, train_batch *out, rapt_error *err)
{
    return task_language_model_take(rapt_windows_random(((text_data *)r->data)->train, index), out, err);
}

static rapt_code validation_windows(run *r, size_t index, train_batch *out, rapt_error *err)
{
    return task_language_model_take(rapt_windows_at(((text_data *)r->data)->validation, index), out, err);
}

static rapt_code sized_windows(run *r, size_t size, bool validation, train_batch *out, rapt_error *err)
{
    text_data *d = r->data;
    size_t context = (size_t)r->recipe->model.context;
    (void)validation;
    free(d->zeros);
    d->zeros = calloc(size * context, sizeof *d->zeros);
    if (!d->zeros)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    rapt_tokens tokens = {d->zeros, size, context, NULL};
    *out = (train_batch){.inputs = tokens, .labels = tokens, .tokens = size * context};
    return RAPT_OK;
}

rapt_tensor *task_language_model_loss(const run *r, const train_batch *b, const rapt_loss_options *o, pass_sums *sums)
{
    *sums = (pass_sums){0};
    return rapt_lm_loss(r->tape, r->model->language.net, b->inputs, b->labels, o, &sums->loss);
}

/* ---- what is told and written --------------------------------------------------------------------------------- */

static uint64_t hash_text(const run *r)
{
    const text_data *d = r->data;
    const token_header *h = &d->tokens->header;
    const uint64_t tokenizer = d->own ? h->tokenizer_hash : rapt_tokenizer_hash(r->model->language.tokenizer);
    const uint64_t hash = rng_mix(rng_mix(tokenizer, h->count), d->tokens_hash);
    return d->valid ? rng_mix(rng_mix(hash, d->valid->header.count), d->valid_hash) : hash;
}

/* Tokens that each rank has from its program. */
static void given_inputs(const run *r, task_input list[TASK_MAX_INPUTS])
{
    const text_data *d = r->data;
    if (!text_data_is_given(r))
        return;
    list[0] = (task_input){r->recipe->data.text, d->tokens_hash};
    list[1] = (task_input){d->valid ? "the tokens to validate with" : NULL, d->valid_hash};
}

void task_language_model_describe(const run *r, rapt_memory_plan *plan)
{
    const rapt_lm_config *c = &r->model->language.net->config;
    plan->source_vocab = plan->target_vocab = c->vocab;
    plan->looked_up = c->tied ? 0 : c->vocab * c->block.d_model;
    plan->step_tokens = (double)(r->recipe->train.batch * r->recipe->model.context * r->recipe->train.accumulate);
}

static void describe_text(const run *r, rapt_memory_plan *plan)
{
    const text_data *d = r->data;
    rapt_token_range train = training_range(r, d);
    plan->examples = train.end - train.begin;
    plan->validation_examples = d->valid ? rapt_token_file_count(d->valid) : rapt_token_file_count(d->tokens) - train.end;
    task_language_model_describe(r, plan);
}

static rapt_code name_text_files(const run *r, rapt_error *err)
{
    return text_data_write(r->data, err);
}

/* ---- a sample: what the model in training writes after the prompt; `rapt generate` has its own options --------- */

typedef struct collected {
    const run *r;
    FILE *out;
} collected;

/* A rapt_text_fn. */
static rapt_code sample_collect(void *context, const char *text, size_t size, rapt_error *err)
{
    const collected *c = context;
    if (fwrite(text, 1, size, c->out) != size)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    return run_stopped(c->r, err);
}

char *task_language_model_sample(run *r, rapt_error *err)
{
    const char *start = prompt_of(r);
    memory_stream text;
    collected c = {r, memory_stream_open(&text)};
    rapt_generate_options o = rapt_generate_options_default();
    o.sample.seed = (uint64_t)r->recipe->seed;
    o.max_tokens = (size_t)r->recipe->train.sample_tokens;
    o.on_text = sample_collect;
    o.context = &c;
    rapt_code code = c.out && fputs(start, c.out) >= 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    rapt_generator *g = code ? NULL : generator_on_tape(r->model, r->tape, &o, err);
    if (!code)
        code = g ? rapt_generator_begin(g, start, strlen(start), err) : err->code;
    if (!code)
        code = rapt_generator_run(g, 0, NULL, err);
    rapt_generator_free(g);
    if (!memory_stream_close(&text) && !code)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sample");
    if (!code)
        return text.text;
    free(text.text);
    return NULL;
}

const train_task train_language_model = {
    .open = open_text,
    .close = close_text,
    .share = share_text,
    .inputs = given_inputs,
    .load = load_windows,
    .make = make_lm,
    .start = make_windows,
    .batch = window_batch,
    .validation_batch = validation_windows,
    .sized = sized_windows,
    .loss = task_language_model_loss,
    .hash = hash_text,
    .describe = describe_text,
    .files = text_data_files,
    .write = name_text_files,
    .sample = task_language_model_sample,
};
