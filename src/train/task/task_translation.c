/* train/task/task_translation.c: what a run needs to know about translation: sentence pairs, two vocabularies, an
 * encoder-decoder. For a run, which calls it through its table. */
#include "train/run.h"

#include "base/memory_stream.h"
#include "base/rng.h"
#include "data/check/check_unspaced.h"
#include "data/pairs.h"
#include "decode/languages.h"
#include "io/model_core.h"
#include "recipe/recipe_model.h"
#include "text/prose/sentences.h"
#include "train/task/pair_data.h"
#include "train/task/validation_bleu.h"
#include "train/step_passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_FILE "validation.tsv"

typedef struct translation {
    pair_data in;
    rapt_dataset *train, *validation; /* validation may be NULL */
    rapt_loader *loader, *validation_loader;
    rapt_loader *trial; /* a loader with another batch size, or NULL */
} translation;

/* The lines of the training set, of one side or both, from which the vocabulary is made. */
static const char **training_lines(const run *r, bool source, bool target, size_t *count)
{
    const translation *d = r->data;
    size_t n = rapt_pairs_count(d->in.pairs);
    const char **lines = malloc(2 * n * sizeof *lines);
    *count = 0;
    for (size_t i = 0; lines && i < n; i++) {
        if (rapt_pairs_in_validation(d->in.pairs, i, r->recipe->data.validation_fraction))
            continue;
        if (source)
            lines[(*count)++] = rapt_pairs_source(d->in.pairs, i);
        if (target)
            lines[(*count)++] = rapt_pairs_target(d->in.pairs, i);
    }
    return lines;
}

static rapt_tokenizer *learn_byte_pairs(const run *r, const char *text, size_t size, rapt_error *err)
{
    const stop_check stop = run_stop(r);
    rapt_bpe_options o = rapt_bpe_options_default();
    o.pattern = r->recipe->tokenizer.pattern;
    o.normalization = r->recipe->tokenizer.normalize;
    o.specials_first = true;
    o.threads = r->options->threads;
    o.stop = stop.stop;
    o.stop_context = stop.context;
    o.vocab_size = recipe_vocab_size(r->recipe, size);
    return rapt_tokenizer_train_bpe(text, size, &o, err);
}

/* Byte pairs or characters, from the lines as one text. */
static rapt_tokenizer *learn_from_text(const run *r, const char *const *lines, size_t count, rapt_error *err)
{
    const bool characters = r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_CHARACTERS;
    rapt_characters_options o = rapt_characters_options_default();
    o.specials_first = true;
    memory_stream text;
    FILE *out = memory_stream_open(&text);
    for (size_t i = 0; out && i < count; i++)
        fprintf(out, "%s\n", lines[i]);
    rapt_tokenizer *k = NULL;
    if (!memory_stream_close(&text))
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the vocabularies");
    else if (characters)
        k = rapt_tokenizer_train_characters_with(text.text, text.size, &o, err);
    else
        k = learn_byte_pairs(r, text.text, text.size, err);
    free(text.text);
    return k;
}

static rapt_tokenizer *learn_words(const run *r, const char *const *lines, size_t count, const char *side, rapt_error *err)
{
    const rapt_recipe *p = r->recipe;
    rapt_words_options o = rapt_words_options_default();
    o.lowercase = p->tokenizer.lowercase;
    o.min_freq = (size_t)p->tokenizer.min_freq;
    o.max_size = (size_t)p->tokenizer.max_size;
    double characters = check_unspaced_lines(lines, count);
    if (characters > 0)
        run_warn(r, "the %s: " CHECK_UNSPACED_WARNING "tokenizer.type characters or bpe", side, characters);
    return rapt_tokenizer_train_words(lines, count, &o, err);
}

static rapt_tokenizer *task_translation_learn_tokenizer(const run *r, bool source, bool target, rapt_error *err)
{
    size_t count;
    const char **lines = training_lines(r, source, target, &count), *side = !source ? "target" : target ? "text" : "source";
    bool words = r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_WORDS;
    rapt_tokenizer *k = NULL;
    if (!lines)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the vocabularies");
    else
        k = words ? learn_words(r, lines, count, side, err) : learn_from_text(r, lines, count, err);
    free(lines);
    return k;
}

static rapt_tokenizer *task_translation_load_tokenizer(const run *r, rapt_error *err)
{
    const char *path = r->recipe->tokenizer.path;
    rapt_tokenizer *k = rapt_tokenizer_load(path, err);
    if (!k || rapt_tokenizer_has_specials(k))
        return k;
    rapt_fail(err, RAPT_ERR_VALUE, "%s: translation needs the tokens <unk> <pad> <bos> <eos> with the ids 0 to 3", path);
    rapt_tokenizer_free(k);
    return NULL;
}

static rapt_tokenizer *task_translation_make_tokenizer(const run *r, bool source, bool target, rapt_error *err)
{
    bool file = r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_FILE;
    run_phase(r, file ? "reading the tokenizer" : "learning a vocabulary", 0, 0);
    return file ? task_translation_load_tokenizer(r, err) : task_translation_learn_tokenizer(r, source, target, err);
}

static rapt_code make_tokenizers(run *r, rapt_error *err)
{
    bool shared = r->recipe->tokenizer.shared;
    r->model->translation.source = task_translation_make_tokenizer(r, true, shared, err);
    if (r->model->translation.source)
        r->model->translation.target = shared ? r->model->translation.source
                                              : task_translation_make_tokenizer(r, false, true, err);
    return r->model->translation.target ? RAPT_OK : err->code;
}

/* Fine-tuning takes everything from the other model except the settings that belong to training. */
static rapt_code task_translation_load_init(run *r, rapt_error *err)
{
    rapt_code code = run_load_init(r, RAPT_TASK_TRANSLATION, err);
    if (code)
        return code;
    size_t max = r->model->translation.net->config.max_positions;
    if ((uint64_t)r->recipe->data.max_len > max)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.max_len is %lld; the model in %s has %zu positions",
                         (long long)r->recipe->data.max_len, r->init, max);
    rapt_transformer_set_dropouts(r->model->translation.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

static rapt_code task_translation_start_model(run *r, rapt_error *err)
{
    if (r->init)
        return task_translation_load_init(r, err);
    r->model = calloc(1, sizeof *r->model);
    if (!r->model)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a model");
    r->model->task = RAPT_TASK_TRANSLATION;
    r->model->translation.special = RAPT_SPECIAL_IDS;
    r->model->translation.detokenize = r->recipe->tokenizer.detokenize;
    r->model->translation.capitalize = r->recipe->tokenizer.capitalize;
    return make_tokenizers(r, err);
}

static rapt_code task_translation_make_net(run *r, uint64_t seed, rapt_error *err)
{
    if (r->init)
        return RAPT_OK;
    rapt_transformer_config config = recipe_transformer_config(r->recipe, rapt_tokenizer_size(r->model->translation.source),
                                                               rapt_tokenizer_size(r->model->translation.target));
    r->model->translation.net = rapt_transformer_new(&config, seed, err);
    if (!r->model->translation.net)
        return err->code;
    r->model->params = r->model->translation.net->params;
    rapt_transformer_set_dropouts(r->model->translation.net, recipe_dropouts(r->recipe));
    return RAPT_OK;
}

/* Whether fewer than one line in a thousand has several sentences: too few to learn from, so that a model would merge
 * sentences. */
static bool has_single_sentences(const run *r)
{
    const rapt_pairs *p = ((const translation *)r->data)->in.pairs;
    size_t lines = 0, several = 0;
    for (size_t i = 0; i < rapt_pairs_count(p); i++) {
        const char *line = rapt_pairs_source(p, i);
        if (rapt_pairs_in_validation(p, i, r->recipe->data.validation_fraction))
            continue;
        lines++;
        several += sentences_are_several(line, strlen(line));
    }
    return several * 1000 < lines;
}

/* Refuses sources that begin with a language that a Marian model does not have. */
static rapt_code check_languages(const run *r, rapt_error *err)
{
    const translation *d = r->data;
    const rapt_pairs *const sets[] = {d->in.pairs, d->in.valid};
    rapt_error reason = {0};
    int32_t token;
    size_t size;
    for (size_t k = 0; k < 2 && sets[k]; k++)
        for (size_t i = 0; i < rapt_pairs_count(sets[k]); i++)
            if (languages_of_line(r->model, rapt_text_of(rapt_pairs_source(sets[k], i)), &token, &size, &reason) != RAPT_OK)
                return rapt_fail(err, reason.code, "%s:%zu: %s", pairs_path_of(sets[k], i), rapt_pairs_line(sets[k], i),
                                 reason.message);
    return RAPT_OK;
}

static rapt_code open_pairs(run *r, rapt_error *err)
{
    translation *d = r->data = calloc(1, sizeof *d);
    if (!d)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    const char *pairs = r->recipe->data.pairs, *validation = r->recipe->data.validation;
    r->piped = !r->options->pairs && (pairs_are_piped(pairs) || (validation && pairs_are_piped(validation)));
    rapt_code code = pair_data_read(r, &d->in, err);
    code = code ? code : task_translation_start_model(r, err);
    if (code || r->model->family) /* the folder of such a model says how it translates, and is not changed */
        return code ? code : check_languages(r, err);
    r->model->translation.max_len = (size_t)r->recipe->data.max_len;
    r->model->translation.by_sentence = has_single_sentences(r);
    r->model->translation.pad_to_max = r->recipe->data.pad == RAPT_RECIPE_PAD_FIXED;
    return RAPT_OK;
}

static void close_pairs(run *r)
{
    translation *d = r->data;
    rapt_loader_free(d->loader);
    rapt_loader_free(d->validation_loader);
    rapt_loader_free(d->trial);
    rapt_dataset_free(d->train);
    rapt_dataset_free(d->validation);
    pair_data_free(&d->in);
    free(d);
}

/* The pairs from which a set is taken, and the fraction that is for validation: all pairs, if validation has its own file. */
static const rapt_pairs *pairs_of(const run *r, bool validation)
{
    const translation *d = r->data;
    return validation && d->in.valid ? d->in.valid : d->in.pairs;
}

static double fraction_of(const run *r, bool validation)
{
    const translation *d = r->data;
    return validation && d->in.valid ? 1 : r->recipe->data.validation_fraction;
}

static rapt_dataset *make_dataset(const run *r, bool validation, rapt_error *err)
{
    const stop_check stop = run_stop(r);
    rapt_dataset_options o = rapt_dataset_options_default();
    o.max_len = (size_t)r->recipe->data.max_len;
    o.too_long = r->recipe->data.too_long;
    o.pad_to_max = r->recipe->data.pad == RAPT_RECIPE_PAD_FIXED;
    o.validation = validation;
    o.validation_fraction = fraction_of(r, validation);
    o.specials_in_text = r->model->translation.specials_in_text;
    o.special = &r->model->translation.special;
    o.stop = stop.stop;
    o.stop_context = stop.context;
    return rapt_dataset_new(pairs_of(r, validation), r->model->translation.source, r->model->translation.target, &o, err);
}

/* Batches of `size` sentences in the order of the data. */
static rapt_loader *loader_in_order(const rapt_dataset *d, size_t size, rapt_error *err)
{
    rapt_loader_options o = rapt_loader_options_default();
    o.batch_size = size;
    return rapt_loader_new(d, &o, err);
}

/* Batches of N tokens if the recipe sets train.batch_tokens, else of N sentences. */
static rapt_loader *training_loader(const run *r, size_t size, rapt_error *err)
{
    const rapt_dataset *d = ((const translation *)r->data)->train;
    rapt_loader_options o = rapt_loader_options_default();
    o.shuffle = true;
    o.seed = (uint64_t)r->recipe->seed;
    *(r->recipe->train.batch_tokens ? &o.batch_tokens : &o.batch_size) = size;
    return rapt_loader_new(d, &o, err);
}

static rapt_code set_bpe_dropout(const run *r, rapt_dataset *d, rapt_error *err)
{
    const rapt_model *m = r->model;
    rapt_error reason = {0};
    if (r->recipe->data.bpe_dropout == 0 ||
        dataset_set_dropout(d, pairs_of(r, false), m->translation.source, m->translation.target, r->recipe->data.bpe_dropout,
                            (uint64_t)r->recipe->seed, &reason) == RAPT_OK)
        return RAPT_OK;
    return rapt_fail(err, reason.code, "data.bpe_dropout is %g: %s", r->recipe->data.bpe_dropout, reason.message);
}

static size_t training_size(const run *r)
{
    return r->recipe->train.batch_tokens ? (size_t)r->recipe->train.batch_tokens : step_drawn_rows(r->recipe);
}

static rapt_code load_pairs(run *r, rapt_error *err)
{
    translation *d = r->data;
    run_phase(r, "tokenizing the pairs", 0, 0);
    d->train = make_dataset(r, false, err);
    if (d->train && (set_bpe_dropout(r, d->train, err) || pair_data_weigh(r, &d->in, d->train, err)))
        return err->code;
    if (d->train)
        d->loader = training_loader(r, training_size(r), err);
    if (d->loader && run_validates(r)) {
        d->validation = make_dataset(r, true, err);
        if (d->validation)
            d->validation_loader = loader_in_order(d->validation, step_pass_rows(r->recipe), err);
    }
    if (!d->loader || (!d->validation_loader && run_validates(r)))
        return err->code;
    r->batches_per_epoch = rapt_loader_batches(d->loader);
    r->validation_batches = d->validation ? rapt_loader_batches(d->validation_loader) : 0;
    return RAPT_OK;
}

static rapt_code task_translation_take(const rapt_batch *b, train_batch *out, rapt_error *err)
{
    if (!b)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    *out = (train_batch){.source = b->source, .source_lens = b->source_lens, .inputs = b->inputs, .labels = b->labels,
                         .valid_lens = b->target_lens, .examples = b->examples, .tokens = b->tokens};
    return RAPT_OK;
}

static rapt_code pairs_batch(run *r, uint64_t index, train_batch *out, rapt_error *err)
{
    translation *d = r->data;
    uint64_t batches = rapt_loader_batches(d->loader);
    return task_translation_take(rapt_loader_batch(d->loader, index / batches, index % batches), out, err);
}

static rapt_code validation_pairs(run *r, size_t index, train_batch *out, rapt_error *err)
{
    return task_translation_take(rapt_loader_batch(((translation *)r->data)->validation_loader, 0, index), out, err);
}

/* A loader as if the recipe's batches had that size. */
static rapt_loader *sized_loader(run *r, size_t size, bool validation, rapt_error *err)
{
    translation *d = r->data;
    if (size == (validation ? step_pass_rows(r->recipe) : training_size(r)) || (validation && r->recipe->train.batch_tokens))
        return validation ? d->validation_loader : d->loader;
    rapt_loader_free(d->trial);
    d->trial = validation ? loader_in_order(d->validation, size, err) : training_loader(r, size, err);
    return d->trial;
}

static rapt_code sized_pairs(run *r, size_t size, bool validation, train_batch *out, rapt_error *err)
{
    rapt_loader *l = sized_loader(r, size, validation, err);
    return l ? task_translation_take(rapt_loader_largest(l), out, err) : err->code;
}

static rapt_tensor *pairs_loss(const run *r, const train_batch *b, const rapt_loss_options *o, pass_sums *sums)
{
    *sums = (pass_sums){0};
    return rapt_transformer_loss(r->tape, r->model->translation.net, b->source, b->source_lens, b->inputs, b->labels, o,
                                 &sums->loss);
}

static size_t empty_pairs(const translation *d)
{
    return rapt_dataset_empty(d->train) + (d->validation ? rapt_dataset_empty(d->validation) : 0);
}

static uint64_t hash_pairs(const run *r)
{
    const translation *d = r->data;
    uint64_t words = rng_mix(rapt_tokenizer_hash(r->model->translation.source),
                             rapt_tokenizer_hash(r->model->translation.target));
    uint64_t hash = pair_data_hash(r, &d->in, words);
    if (empty_pairs(d) > 0) /* versions before 0.4 trained on those */
        hash = rng_mix(hash, empty_pairs(d));
    return d->in.valid ? pair_data_hash_all(d->in.valid, hash) : hash;
}

static void pairs_inputs(const run *r, task_input list[TASK_MAX_INPUTS])
{
    const translation *d = r->data;
    list[0] = (task_input){r->recipe->data.pairs, pair_data_hash_all(d->in.pairs, 0)};
    list[1] = (task_input){r->recipe->data.validation, d->in.valid ? pair_data_hash_all(d->in.valid, 0) : 0};
    list[2] = (task_input){"the tokenizer of the source", rapt_tokenizer_hash(r->model->translation.source)};
    list[3] = (task_input){"the tokenizer of the target", rapt_tokenizer_hash(r->model->translation.target)};
}

static void describe_pairs(const run *r, rapt_memory_plan *plan)
{
    const translation *d = r->data;
    plan->examples = rapt_dataset_count(d->train);
    plan->dropped = rapt_dataset_dropped(d->train);
    plan->validation_examples = d->validation ? rapt_dataset_count(d->validation) : 0;
    plan->validation_dropped = d->validation ? rapt_dataset_dropped(d->validation) : 0;
    plan->empty = empty_pairs(d);
    plan->shared_vocab = r->model->translation.source == r->model->translation.target;
    plan->source_vocab = rapt_tokenizer_size(r->model->translation.source);
    plan->target_vocab = rapt_tokenizer_size(r->model->translation.target);
    const rapt_transformer_config *c = &r->model->translation.net->config;
    plan->looked_up = c->tied ? 0 : (c->source_vocab + c->target_vocab) * c->block.d_model;
    plan->step_tokens = pair_data_pass_tokens(d->train) * (double)step_draws(r->recipe) / (double)r->batches_per_epoch;
    plan->corpora = d->in.corpora;
    plan->corpus_count = d->in.count;
}

/* A line from one of two files may hold tabs, which would be columns in a table. */
static void put_column(FILE *out, const char *line, char end)
{
    for (; *line; line++)
        putc(*line == '\t' ? ' ' : *line, out);
    putc(end, out);
}

static rapt_code write_validation(const run *r, rapt_error *err)
{
    const translation *d = r->data;
    memory_stream text;
    if (!d->validation)
        return RAPT_OK;
    FILE *out = memory_stream_open(&text);
    const rapt_pairs *p = pairs_of(r, true);
    for (size_t i = 0; out && i < rapt_pairs_count(p); i++)
        if (rapt_pairs_in_validation(p, i, fraction_of(r, true))) {
            put_column(out, rapt_pairs_source(p, i), '\t');
            put_column(out, rapt_pairs_target(p, i), '\n');
        }
    rapt_code code = memory_stream_close(&text) ? run_write(r, VALIDATION_FILE, text.text, text.size, err)
                                                : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for " VALIDATION_FILE);
    free(text.text);
    return code;
}

static rapt_code score_validation(run *r, train_scores *scores, rapt_error *err)
{
    return validation_bleu(r, pairs_of(r, true), fraction_of(r, true), scores, err);
}

static rapt_code pairs_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err)
{
    (void)err;
    *names++ = "source.tokenizer.json";
    *names++ = "target.tokenizer.json";
    if (run_validates(r))
        *names++ = VALIDATION_FILE;
    *names = NULL;
    return RAPT_OK;
}

const train_task train_translation = {
    .open = open_pairs,
    .inputs = pairs_inputs,
    .load = load_pairs,
    .make = task_translation_make_net,
    .close = close_pairs,
    .batch = pairs_batch,
    .validation_batch = validation_pairs,
    .sized = sized_pairs,
    .loss = pairs_loss,
    .hash = hash_pairs,
    .describe = describe_pairs,
    .files = pairs_files,
    .write = write_validation,
    .score = score_validation,
};
