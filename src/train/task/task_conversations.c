/* train/task/task_conversations.c: what a run needs to know to tune a language model on conversations, or on preferences: a file
 * of them, the model with its tokenizer and chat template, and batches whose rows are conversations. For a run, which calls it
 * through its table, and task_preferences.c, which adds the reference and the loss of preferences. */
#include "train/task/task_conversations.h"

#include "base/rng.h"
#include "data/dataset.h"
#include "io/model.h"
#include "io/model_core.h"

#include <stdlib.h>

static const char *conversations_path(const run *r)
{
    return r->recipe->data.preferences ? r->recipe->data.preferences : r->recipe->data.conversations;
}

/* The rows of an example. */
static size_t conversations_rows(const run *r)
{
    return r->recipe->data.preferences ? 2 : 1;
}

/* ---- the data ----------------------------------------------------------------------------------------------------- */

rapt_code task_conversations_open(run *r, rapt_error *err)
{
    conversations *d = r->data = calloc(1, sizeof *d);
    const rapt_recipe *k = r->recipe;
    if (!d)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    if (r->options->tokens || r->options->validation_tokens)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.%s is %s, and the program has tokens to train on",
                         k->data.preferences ? "preferences" : "conversations", conversations_path(r));
    if (!r->init)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.%s is for fine-tuning; there is no model to start from",
                         k->data.preferences ? "preferences" : "conversations");
    if (!(d->file = conversation_file_open(conversations_path(r), err)) ||
        (k->data.validation && !(d->valid = conversation_file_open(k->data.validation, err))))
        return err->code;
    rapt_code code = task_language_model_load_init(r, err);
    if (!code && !(d->chat = rapt_chat_template_load(r->init, &d->no_chat)) && d->no_chat.code != RAPT_ERR_NOT_FOUND)
        code = rapt_fail(err, d->no_chat.code, "%s", d->no_chat.message);
    return code;
}

void task_conversations_close(run *r)
{
    conversations *d = r->data;
    rapt_loader_free(d->loader);
    rapt_loader_free(d->validation_loader);
    rapt_dataset_free(d->train);
    rapt_dataset_free(d->validation);
    conversation_file_close(d->file);
    conversation_file_close(d->valid);
    rapt_chat_template_free(d->chat);
    free(d->zeros);
    free(d->reference);
    free(d->validation_reference);
    free(d);
}

static rapt_dataset *make_set(const run *r, bool validation, rapt_error *err)
{
    const conversations *d = r->data;
    const rapt_recipe *k = r->recipe;
    const bool own = validation && d->valid;
    const conversation_set_options o = {
        .rule = {r->model->language.tokenizer, d->chat, d->no_chat.message, model_end_of_reply(r->model),
                 k->train.loss_on == RAPT_RECIPE_LOSS_ON_ALL, run_stop(r)},
        .context = (size_t)k->model.context, .too_long = k->data.too_long,
        .validation_fraction = own ? 1 : k->data.validation_fraction, .validation = validation, .packed = k->data.pack,
        .preferences = k->data.preferences != NULL};
    return conversation_set_new(own ? d->valid : d->file, &o, err);
}

/* The tokens of a packed batch, about, if train.batch were `size`: as many as that many windows have; of preferences two windows
 * each. */
static size_t packed_tokens(const run *r, size_t size)
{
    const uint64_t tokens = (uint64_t)size * (uint64_t)r->recipe->model.context * conversations_rows(r);
    return tokens < SIZE_MAX ? (size_t)tokens : SIZE_MAX; /* of 32 bits */
}

rapt_loader *task_conversations_loader(const run *r, const rapt_dataset *d, bool shuffle, rapt_error *err)
{
    rapt_loader_options o = rapt_loader_options_default();
    o.batch_size = (size_t)r->recipe->train.batch;
    o.batch_tokens = d->packed ? packed_tokens(r, o.batch_size) : 0;
    o.shuffle = shuffle;
    o.seed = (uint64_t)r->recipe->seed;
    return rapt_loader_new(d, &o, err);
}

rapt_code task_conversations_load(run *r, rapt_error *err)
{
    conversations *d = r->data;
    run_phase(r, r->recipe->data.preferences ? "tokenizing the preferences" : "tokenizing the conversations", 0, 0);
    if (!(d->train = make_set(r, false, err)) || !(d->loader = task_conversations_loader(r, d->train, true, err)))
        return err->code;
    if (conversation_set_cut(d->train) > 0)
        run_warn(r, "%zu of %zu %s are longer than model.context %lld and cut, with the end of their last turn; "
                 "data.too_long drop leaves them out", conversation_set_cut(d->train), rapt_dataset_count(d->train),
                 r->recipe->data.preferences ? "preferences" : "conversations", (long long)r->recipe->model.context);
    if (run_validates(r) && (!(d->validation = make_set(r, true, err)) ||
                             !(d->validation_loader = task_conversations_loader(r, d->validation, false, err))))
        return err->code;
    r->batches_per_epoch = rapt_loader_batches(d->loader);
    r->validation_batches = d->validation ? rapt_loader_batches(d->validation_loader) : 0;
    return RAPT_OK;
}

/* The model is there already, as conversations are for fine-tuning only. */
rapt_code task_conversations_make(run *r, uint64_t seed, rapt_error *err)
{
    const conversations *d = r->data;
    (void)seed;
    rapt_code code = task_language_model_check_ids(r, conversations_path(r), conversation_set_max_id(d->train), err);
    if (!code && d->validation)
        code = task_language_model_check_ids(r, d->valid ? r->recipe->data.validation : conversations_path(r),
                                             conversation_set_max_id(d->validation), err);
    if (!code)
        code = task_language_model_check_prompt(r, err);
    if (!code)
        task_language_model_make_sparse(r);
    return code;
}

/* ---- batches ------------------------------------------------------------------------------------------------------ */

/* Rows have their own lengths: padding is not computed, and no token sees another conversation. */
static rapt_code conversations_take(const rapt_batch *b, const rapt_real *reference, train_batch *out, rapt_error *err)
{
    if (!b)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    *out = (train_batch){.inputs = b->inputs, .labels = b->labels, .valid_lens = b->target_lens, .examples = b->examples,
                         .reference = reference, .tokens = b->tokens};
    return RAPT_OK;
}

rapt_code task_conversations_batch(run *r, uint64_t index, train_batch *out, rapt_error *err)
{
    conversations *d = r->data;
    const uint64_t batches = rapt_loader_batches(d->loader);
    return conversations_take(rapt_loader_batch(d->loader, index / batches, index % batches), d->reference, out, err);
}

rapt_code task_conversations_validation(run *r, size_t index, train_batch *out, rapt_error *err)
{
    conversations *d = r->data;
    return conversations_take(rapt_loader_batch(d->validation_loader, 0, index), d->validation_reference, out, err);
}

/* The rows of a packed batch, if all were as long as the longest. */
static size_t packed_rows(const run *r, const rapt_dataset *d, size_t tokens, size_t longest)
{
    const size_t most = dataset_target_tokens(d) / dataset_packed_batches(d, tokens) + conversations_rows(r) * longest;
    const size_t rows = (most + longest - 1) / longest, each = conversations_rows(r);
    return (rows + each - 1) / each * each;
}

/* Counted as if every label had a loss. */
rapt_code task_conversations_sized(run *r, size_t size, bool validation, train_batch *out, rapt_error *err)
{
    conversations *d = r->data;
    const rapt_dataset *set = validation ? d->validation : d->train;
    const size_t time = dataset_longest(set);
    const size_t rows = set->packed ? packed_rows(r, set, packed_tokens(r, size), time) : size * conversations_rows(r);
    free(d->zeros);
    d->zeros = calloc(rows, time * sizeof *d->zeros);
    if (!d->zeros)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    const rapt_tokens tokens = {d->zeros, rows, time, NULL};
    *out = (train_batch){.inputs = tokens, .labels = tokens, .tokens = rows * time};
    return RAPT_OK;
}

/* ---- what is told and written ------------------------------------------------------------------------------------- */

uint64_t task_conversations_hash(const run *r)
{
    const conversations *d = r->data;
    const uint64_t hash = rng_mix(rapt_tokenizer_hash(r->model->language.tokenizer), conversation_set_hash(d->train));
    return d->validation ? rng_mix(hash, conversation_set_hash(d->validation)) : hash;
}

void task_conversations_inputs(const run *r, task_input list[TASK_MAX_INPUTS])
{
    const conversations *d = r->data;
    const rapt_recipe *k = r->recipe;
    list[0] = (task_input){conversations_path(r), conversation_set_hash(d->train)};
    list[1] = (task_input){k->data.validation ? k->data.validation : d->validation ? "the conversations to validate with" : NULL,
                           d->validation ? conversation_set_hash(d->validation) : 0};
    list[2] = (task_input){"the tokenizer", rapt_tokenizer_hash(r->model->language.tokenizer)};
}

void task_conversations_describe(const run *r, rapt_memory_plan *plan)
{
    const conversations *d = r->data;
    task_language_model_describe(r, plan);
    plan->step_tokens = (double)(dataset_target_tokens(d->train) * (uint64_t)r->recipe->train.accumulate) /
                        (double)r->batches_per_epoch;
    plan->examples = rapt_dataset_count(d->train);
    plan->dropped = rapt_dataset_dropped(d->train);
    plan->validation_examples = d->validation ? rapt_dataset_count(d->validation) : 0;
    plan->validation_dropped = d->validation ? rapt_dataset_dropped(d->validation) : 0;
}

rapt_code task_conversations_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err)
{
    (void)r, (void)err;
    names[0] = "tokenizer.json";
    names[1] = MODEL_CHAT_TEMPLATE;
    names[2] = NULL;
    return RAPT_OK;
}

rapt_code task_conversations_write(const run *r, rapt_error *err)
{
    (void)r, (void)err;
    return RAPT_OK;
}

const train_task train_conversations = {TASK_CONVERSATIONS, .loss = task_language_model_loss};
