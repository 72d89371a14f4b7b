/* train/task/task_language_model.c: what a run needs to know about language models: a text as a mapped token file, windows of
 * it, a tokenizer and a decoder-only model. For a run, which calls it through its table. */
#define _GNU_SOURCE
#include "train/run.h"

#include "base/file.h"
#include "base/rng.h"
#include "data/text_files.h"
#include "data/tokens/token_file.h"
#include "decode/prompt.h"
#include "io/model.h"
#include "recipe/recipe_model.h"
#include "text/text_in.h"
#include "text/tokenizer.h"
#include "train/ranks/ranks_work.h"
#include "train/task/sample.h"
#include "train/task/text_share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_FILE "text.tokens"
#define END_OF_TEXT "<|endoftext|>"
#define TEXT_FILE "text.txt" /* if the recipe names several files */

typedef struct text_data {
    char *text;        /* path of the text */
    char *text_at;     /* path at which it can be read before it has its name */
    char *tokens_path;
    bool several;      /* several files, which are joined */
    file_writer text_out, tokens_out; /* files of the model's folder that get their names when all input is checked */
    bool joins_text, makes_tokens;    /* those two are open */
    rapt_token_file *tokens;
    rapt_windows *train, *validation; /* validation may be NULL */
    int32_t *zeros;    /* ids of a batch that is only counted */
} text_data;

/* ---- the text and its tokenizer ------------------------------------------------------------------------------- */

static rapt_code find_text(run *r, text_data *d, rapt_error *err)
{
    const char *list = r->recipe->data.text, *out = r->options->out;
    rapt_code code = text_files_are_several(list, &d->several, err);
    if (code)
        return code;
    d->text = d->several ? file_join(out, TEXT_FILE) : strdup(list);
    d->tokens_path = file_join(out, TOKENS_FILE);
    if (!d->text || !d->tokens_path)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    bool there = true;
    if (!d->several && (code = file_is_there(list, &there, err)) != RAPT_OK)
        return code;
    if (!there) /* before a tokenizer is looked for */
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "cannot read %s: %s", list, strerror(ENOENT));
    return RAPT_OK;
}

/* Whether the text of a special token, encoded alone, becomes that token. The control pieces of SentencePiece never do. */
static rapt_code is_found_in_text(const rapt_tokenizer *k, const char *text, bool *found, rapt_error *err)
{
    int32_t *ids;
    size_t count;
    const int32_t id = rapt_tokenizer_special(k, text);
    *found = false;
    if (id < 0)
        return RAPT_OK;
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), true, &ids, &count, err);
    *found = !code && count == 1 && ids[0] == id;
    free(ids);
    return code;
}

/* The separator of documents: <|endoftext|>, or else the end of text of the model that is fine-tuned (not the token with which
 * its folder may end a turn of a chat). *text is NULL if the tokenizer finds neither. */
static rapt_code find_separator(const run *r, const char **text, rapt_error *err)
{
    const rapt_language_model *m = &r->model->language;
    bool found = !m->tokenizer && r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE;
    const char *end = m->tokenizer && m->end_of_text_count ? rapt_tokenizer_token(m->tokenizer, m->end_of_text[0], NULL) : NULL;
    rapt_code code = RAPT_OK;
    *text = END_OF_TEXT;
    if (m->tokenizer)
        code = is_found_in_text(m->tokenizer, *text, &found, err);
    if (!code && !found && end)
        code = is_found_in_text(m->tokenizer, *text = end, &found, err);
    *text = found ? *text : NULL;
    return code;
}

/* Joins several files into one text, once their separator is known. */
static rapt_code join_text(run *r, text_data *d, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    text_choice choice = {.names = k->data.text_files, .shuffled = k->data.text_order == RAPT_RECIPE_TEXT_ORDER_SHUFFLED};
    rapt_code code = d->several && k->data.special_tokens ? find_separator(r, &choice.separator, err) : RAPT_OK;
    if (!code && d->several)
        code = text_files_join(k->data.text, &choice, d->text, &d->text_out, err);
    d->joins_text = d->several && !code;
    if (code)
        return code;
    d->text_at = d->several ? file_writer_draft(&d->text_out) : strdup(d->text);
    return d->text_at ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
}

/* BPE is trained on the training set only; a vocabulary of characters must also cover the validation set. */
static rapt_tokenizer *task_language_model_learn_tokenizer(const run *r, const text_data *d, rapt_error *err)
{
    file_map text;
    bool pairs = r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE;
    rapt_error reason = {0};
    const stop_check stop = run_stop(r);
    static const char *const specials[] = {END_OF_TEXT};
    rapt_bpe_options o = {.specials = specials, .special_count = 1, .pattern = r->recipe->tokenizer.pattern,
                          .normalization = r->recipe->tokenizer.normalize, .threads = r->options->threads,
                          .stop = stop.stop, .stop_context = stop.context};
    if (text_in_map(&text, d->text, d->text_at, err) != RAPT_OK)
        return NULL;
    if (text_in_check_map(d->text, &text, err) != RAPT_OK) {
        file_map_close(&text);
        return NULL;
    }
    size_t size = pairs ? (size_t)((double)text.size * (1 - r->recipe->data.validation_fraction)) : text.size;
    o.vocab_size = recipe_vocab_size(r->recipe, size);
    rapt_tokenizer *k = pairs ? byte_bpe_train_file(&text, size, &o, &reason) : characters_train_file(&text, &reason);
    file_map_close(&text);
    if (!k)
        rapt_fail(err, reason.code, "%s: %s", d->text, reason.message);
    return k;
}

static rapt_tokenizer *task_language_model_load_tokenizer(const run *r, rapt_error *err)
{
    static const char *const prefixes[] = {[RAPT_RECIPE_TOKENIZER_FILE] = "",
                                           [RAPT_RECIPE_TOKENIZER_CL100K] = "cl100k_base:",
                                           [RAPT_RECIPE_TOKENIZER_O200K] = "o200k_base:",
                                           [RAPT_RECIPE_TOKENIZER_R50K] = "r50k_base:"};
    char *spec = NULL;
    if (asprintf(&spec, "%s%s", prefixes[r->recipe->tokenizer.type], r->recipe->tokenizer.path) < 0) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
        return NULL;
    }
    rapt_tokenizer *k = rapt_tokenizer_load(spec, err);
    free(spec);
    return k;
}

static bool learns_tokenizer(const run *r)
{
    rapt_recipe_tokenizer type = r->recipe->tokenizer.type;
    return !r->init && (type == RAPT_RECIPE_TOKENIZER_CHARACTERS || type == RAPT_RECIPE_TOKENIZER_BPE);
}

/* Makes both together: training a tokenizer needs the text, and a loaded tokenizer decides the end of text that separates
 * files. */
static rapt_code make_text_and_tokenizer(run *r, text_data *d, rapt_error *err)
{
    rapt_tokenizer **k = &r->model->language.tokenizer;
    const bool learns = learns_tokenizer(r);
    if (!r->init)
        run_phase(r, learns ? "learning a vocabulary" : "reading the tokenizer", 0, 0);
    if (!r->init && !learns && !(*k = task_language_model_load_tokenizer(r, err)))
        return err->code;
    rapt_code code = join_text(r, d, err);
    if (!code && learns && !(*k = task_language_model_learn_tokenizer(r, d, err)))
        code = err->code;
    return code;
}

/* ---- the model ------------------------------------------------------------------------------------------------ */

static const char *prompt_of(const run *r)
{
    return r->recipe->train.sample_prompt ? r->recipe->train.sample_prompt : "\n";
}

static rapt_code task_language_model_load_init(run *r, rapt_error *err)
{
    r->model = rapt_model_load_task(r->init, RAPT_TASK_LANGUAGE_MODEL, err);
    if (!r->model)
        return err->code;
    rapt_code code = run_take_init(r, err);
    if (code)
        return code;
    size_t max = r->model->language.net->config.context;
    if ((uint64_t)r->recipe->model.context > max)
        return rapt_fail(err, RAPT_ERR_VALUE, "model.context is %lld; the model in %s has %zu positions",
                         (long long)r->recipe->model.context, r->init, max);
    rapt_lm_set_dropouts(r->model->language.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

/* Fails now instead of at the first sample. */
static rapt_code check_prompt(const run *r, rapt_error *err)
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
    rapt_lm_set_dropouts(r->model->language.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

/* A model that is fine-tuned may lack ids that its tokenizer has and this text uses. */
static rapt_code check_ids(const run *r, const text_data *d, rapt_error *err)
{
    size_t vocab = r->model->language.net->config.vocab;
    int32_t largest = rapt_token_file_max_id(d->tokens);
    if ((size_t)largest < vocab)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: token %d occurs; the model knows %zu", d->text, largest, vocab);
}

/* A matrix whose rows are hardly used touches only those: with exact AdamW the result is bit-identical. */
static void make_sparse(run *r)
{
    rapt_lm *m = r->model->language.net;
    size_t tokens = (size_t)(r->recipe->train.batch * r->recipe->model.context * r->recipe->train.accumulate);
    if (!m->config.tied && m->config.vocab > 8 * tokens && r->recipe->train.lora.rank == 0)
        rapt_param_make_sparse(m->params, m->input.embedding.weight);
}

static rapt_code open_text(run *r, rapt_error *err)
{
    text_data *d = r->data = calloc(1, sizeof *d);
    if (!d)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    rapt_code code = run_is_first(r) ? find_text(r, d, err) : RAPT_OK;
    if (!code)
        code = r->init ? task_language_model_load_init(r, err) : task_language_model_start_model(r, err);
    if (code || !run_is_first(r))
        return code;
    code = make_text_and_tokenizer(r, d, err);
    if (code)
        return code;
    run_phase(r, "tokenizing the text", 0, 0);
    const token_options o = {!r->recipe->data.special_tokens, r->options->threads, run_stop(r)};
    d->tokens = token_file_draft(r->model->language.tokenizer, (token_place){d->text, d->text_at}, d->tokens_path, o,
                                 &d->tokens_out, &d->makes_tokens, err);
    return d->tokens ? RAPT_OK : err->code;
}

/* Names the files as rank 0 does; they need not exist here. */
static rapt_code name_text(const run *r, text_data *d, bool several, rapt_error *err)
{
    d->text = several ? file_join(r->options->out, TEXT_FILE) : strdup(r->recipe->data.text);
    d->tokens_path = file_join(r->options->out, TOKENS_FILE);
    return d->text && d->tokens_path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
}

static rapt_code check_same_tokenizer(const run *r, const text_data *d, rapt_error *err)
{
    if (rapt_tokenizer_hash(r->model->language.tokenizer) == d->tokens->header.tokenizer_hash)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "the tokenizer is not rank 0's%s%s", r->init ? ": the one of the model in " : "",
                     r->init ? r->init : "");
}

static rapt_code share_text(run *r, rapt_error *err)
{
    text_data *d = r->data;
    bool several = run_is_first(r) && strcmp(d->text, r->recipe->data.text) != 0;
    rapt_code code = ranks_give(r, &several, sizeof several, err);
    if (!code)
        code = ranks_agree(r, run_is_first(r) ? RAPT_OK : name_text(r, d, several, err), err);
    if (!code && !r->init)
        code = text_share_tokenizer(r, &r->model->language.tokenizer, err);
    text_tokens t = {several ? NULL : d->text, d->tokens_path, d->makes_tokens ? &d->tokens_out : NULL, d->tokens};
    if (!code)
        code = text_share_tokens(r, &t, err);
    d->tokens = t.file;
    return code ? code : ranks_agree(r, check_same_tokenizer(r, d, err), err);
}

static rapt_code make_lm(run *r, uint64_t seed, rapt_error *err)
{
    const text_data *d = r->data;
    rapt_code code = r->init ? RAPT_OK : task_language_model_make_net(r, d, seed, err);
    if (!code)
        code = check_ids(r, d, err);
    if (!code)
        code = check_prompt(r, err);
    if (!code)
        make_sparse(r);
    return code;
}

static void close_text(run *r)
{
    text_data *d = r->data;
    if (d->joins_text)
        file_writer_discard(&d->text_out);
    if (d->makes_tokens)
        file_writer_discard(&d->tokens_out);
    rapt_windows_free(d->train);
    rapt_windows_free(d->validation);
    rapt_token_file_close(d->tokens);
    free(d->text);
    free(d->text_at);
    free(d->tokens_path);
    free(d->zeros);
    free(d);
}

/* ---- windows -------------------------------------------------------------------------------------------------- */

/* The validation set, or as much of it as reports evaluate. */
static rapt_token_range validation_range(const run *r, const text_data *d)
{
    rapt_token_range range = rapt_token_range_validation(d->tokens, 1 - r->recipe->data.validation_fraction);
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
    const text_data *d = r->data;
    const rapt_recipe *k = r->recipe;
    rapt_token_range train = rapt_token_range_training(d->tokens, 1 - k->data.validation_fraction);
    rapt_token_range validation = validation_range(r, d);
    rapt_code code = check_token_range(r, &train, false, err);
    if (!code && k->data.validation_fraction > 0)
        code = check_token_range(r, &validation, true, err);
    size_t tokens = (size_t)(k->model.context * k->train.batch);
    r->batches_per_epoch = (train.end - train.begin + tokens - 1) / tokens;
    return code;
}

static rapt_code make_windows(run *r, rapt_error *err)
{
    text_data *d = r->data;
    const rapt_recipe *k = r->recipe;
    size_t context = (size_t)k->model.context, batch = (size_t)k->train.batch;
    rapt_token_range train = rapt_token_range_training(d->tokens, 1 - k->data.validation_fraction);
    rapt_token_range validation = validation_range(r, d);
    d->train = rapt_windows_new(d->tokens, &train, context, batch, (uint64_t)k->seed, err);
    if (d->train && k->data.validation_fraction > 0)
        d->validation = rapt_windows_new(d->tokens, &validation, context, batch, 0, err);
    if (!d->train || (!d->validation && k->data.validation_fraction > 0))
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

static rapt_tensor *task_language_model_window_loss(const run *r, const train_batch *b, const rapt_loss_options *o,
                                                    rapt_loss_sums *parts)
{
    return rapt_lm_loss(r->tape, r->model->language.net, b->inputs, b->labels, o, parts);
}

/* ---- what is told and written --------------------------------------------------------------------------------- */

static uint64_t hash_text(const run *r)
{
    const token_header *h = &((const text_data *)r->data)->tokens->header;
    return rng_mix(rng_mix(h->tokenizer_hash, h->count), h->ids_hash);
}

static void describe_text(const run *r, rapt_memory_plan *plan)
{
    const text_data *d = r->data;
    rapt_token_range train = rapt_token_range_training(d->tokens, 1 - r->recipe->data.validation_fraction);
    plan->examples = train.end - train.begin;
    plan->validation_examples = rapt_token_file_count(d->tokens) - train.end;
    const rapt_lm_config *c = &r->model->language.net->config;
    plan->source_vocab = plan->target_vocab = c->vocab;
    plan->looked_up = c->tied ? 0 : c->vocab * c->block.d_model;
    plan->step_tokens = (double)(r->recipe->train.batch * r->recipe->model.context * r->recipe->train.accumulate);
}

/* The token file is made again if it does not belong to the text. */
static rapt_code text_task_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err)
{
    bool several;
    rapt_code code = text_files_are_several(r->recipe->data.text, &several, err);
    if (code)
        return code;
    *names++ = "tokenizer.json";
    if (several)
        *names++ = TEXT_FILE;
    *names = NULL;
    return RAPT_OK;
}

/* Called after all checks. If the process is killed between the two renames, the tokens belong to another text; the next run
 * notices that and makes them again. */
static rapt_code name_files(const run *r, rapt_error *err)
{
    text_data *d = r->data;
    rapt_code code = RAPT_OK;
    if (d->joins_text)
        code = file_writer_finish(&d->text_out, err);
    d->joins_text = false;
    if (!code && d->makes_tokens) {
        code = file_writer_finish(&d->tokens_out, err);
        d->makes_tokens = false;
    }
    return code;
}

static char *task_language_model_sample(run *r, rapt_error *err)
{
    return sample_text(r, prompt_of(r), err);
}

const train_task train_language_model = {
    .open = open_text,
    .close = close_text,
    .share = share_text,
    .load = load_windows,
    .make = make_lm,
    .start = make_windows,
    .batch = window_batch,
    .validation_batch = validation_windows,
    .sized = sized_windows,
    .loss = task_language_model_window_loss,
    .hash = hash_text,
    .describe = describe_text,
    .files = text_task_files,
    .write = name_files,
    .sample = task_language_model_sample,
};
