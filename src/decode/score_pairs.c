/* decode/score_pairs.c: the loss of a translation model on the targets of sentence pairs, in all or token by token. */
#include "decode/score_watch.h"

#include "base/buffer.h"
#include "data/dataset.h"
#include "decode/model_tapes.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 64

static rapt_code score_batch_of(const rapt_model *m, rapt_tape *t, const rapt_batch *b, const score_watch *watch, rapt_score *out,
                                rapt_error *err)
{
    const rapt_loss_options o = {.valid_lens = b->target_lens};
    rapt_loss_sums parts = {0};
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *logits = rapt_transformer_forward(t, m->translation.net, b->source, b->source_lens, b->inputs);
    rapt_op_cross_entropy(t, logits, b->labels, &o, &parts);
    out->nll += parts.nll;
    out->tokens += parts.tokens;
    rapt_code code = rapt_tape_status(t, err);
    const score_batch all = {&b->source, b->source_lens, b->inputs, b->labels, b->target_lens, logits, t->k};
    return code || !watch ? code : watch->fn(watch->context, &all, err);
}

static rapt_code score_batches(const rapt_model *m, rapt_loader *loader, const rapt_score_options *o, const score_watch *watch,
                               rapt_score *out, rapt_error *err)
{
    model_tapes tapes;
    rapt_code code = model_tapes_make(&tapes, m, &o->compute, MODEL_TAPES_ALL | MODEL_TAPES_PACK_IF_NEEDED, err);
    for (size_t i = 0; i < rapt_loader_batches(loader) && !code; i++) {
        if ((code = score_asks(o, err)))
            break;
        const rapt_batch *b = rapt_loader_batch(loader, 0, i);
        code = b ? score_batch_of(m, tapes.all, b, watch, out, err)
                 : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    }
    model_tapes_free(&tapes);
    return code;
}

static rapt_code score_dataset(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *o,
                               const score_watch *watch, rapt_score *out, rapt_error *err)
{
    rapt_dataset_options data_options = rapt_dataset_options_default();
    rapt_loader_options loader_options = rapt_loader_options_default();
    data_options.max_len = m->translation.max_len;
    data_options.too_long = o->strict ? RAPT_TOO_LONG_ERROR : RAPT_TOO_LONG_CUT;
    data_options.pad_to_max = m->translation.pad_to_max;
    data_options.special = &m->translation.special;
    data_options.specials_in_text = m->translation.specials_in_text;
    data_options.stop = o->stop;
    data_options.stop_context = o->context;
    loader_options.batch_size = BATCH;
    rapt_dataset *data = rapt_dataset_new(pairs, m->translation.source, m->translation.target, &data_options, err);
    rapt_loader *loader = data ? rapt_loader_new(data, &loader_options, err) : NULL;
    out->skipped = data ? rapt_dataset_empty(data) : 0;
    rapt_code code = loader ? score_batches(m, loader, o, watch, out, err) : err->code;
    rapt_loader_free(loader);
    rapt_dataset_free(data);
    return code == RAPT_ERR_INTERRUPTED ? score_cancelled(err) : code; // whoever noticed it
}

static rapt_code score_check_model(const rapt_model *m, rapt_error *err)
{
    if (m->task != RAPT_TASK_TRANSLATION)
        return rapt_fail(err, RAPT_ERR_VALUE, "sentence pairs are scored by translation models");
    if (m->translation.source_begin_count || m->search.forced_bos.count)
        return rapt_fail(err, RAPT_ERR_VALUE, "the loss of a model of type %s, whose sentences begin with tokens of their own, "
                         "is not computed; rapt translate and rapt score give its BLEU", m->family);
    return RAPT_OK;
}

/* The mean over no pairs is no number. */
static rapt_code score_check_pairs(const rapt_pairs *pairs, rapt_error *err)
{
    for (size_t i = 0; i < rapt_pairs_count(pairs); i++)
        if (!dataset_has_empty_side(pairs, i))
            return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "no pair is left to score: all %zu have an empty side", rapt_pairs_count(pairs));
}

rapt_code score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options, const score_watch *watch,
                      rapt_score *out, rapt_error *err)
{
    rapt_error own = {0};
    *out = (rapt_score){0};
    rapt_code code = score_check_model(m, &own);
    code = code ? code : score_check_pairs(pairs, &own);
    code = code ? code : score_dataset(m, pairs, options, watch, out, &own);
    code = code ? code : score_finish(out, &own);
    if (!code)
        return RAPT_OK;
    *out = (rapt_score){0};
    return rapt_fail(err, code, "%s", own.message);
}

rapt_code rapt_score_pairs(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options, rapt_score *out,
                           rapt_error *err)
{
    rapt_score_options o;
    *out = (rapt_score){0};
    rapt_code code = score_options_take(options, &o, err);
    return code ? code : score_pairs(m, pairs, &o, NULL, out, err);
}

/* ---- token by token ------------------------------------------------------------------------------------------------ */

typedef struct pair_taker {
    const rapt_pairs *pairs;
    rapt_pair_scores *to; /* `count` pairs are there */
    size_t ids, log_probs; /* capacities */
} pair_taker;

/* Pairs that the data set lacks come before the next one that it has. */
static void taker_pass_empty(pair_taker *t)
{
    rapt_pair_scores *to = t->to;
    for (; to->count < rapt_pairs_count(t->pairs) && dataset_has_empty_side(t->pairs, to->count); to->count++)
        to->begins[to->count + 1] = to->begins[to->count];
}

/* A score_watch.fn: batches come in the order of the pairs. */
static rapt_code score_take_pairs(void *context, const score_batch *b, rapt_error *err)
{
    pair_taker *t = context;
    rapt_pair_scores *to = t->to;
    for (size_t row = 0; row < b->labels.batch; row++) {
        taker_pass_empty(t);
        const size_t at = to->begins[to->count], count = (size_t)b->valid_lens[row];
        if (!ARRAY_RESERVE(&to->tokens, &t->ids, at + count) || !ARRAY_RESERVE(&to->log_probs, &t->log_probs, at + count))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", at + count);
        memcpy(to->tokens + at, b->labels.ids + row * b->labels.time, count * sizeof *to->tokens);
        score_row(b, row, to->log_probs + at);
        to->begins[++to->count] = at + count;
    }
    return RAPT_OK;
}

rapt_code rapt_score_each_pair(const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *options,
                               rapt_pair_scores *out, rapt_error *err)
{
    rapt_score_options o;
    rapt_score sums = {0};
    rapt_error own = {0};
    pair_taker t = {.pairs = pairs, .to = out};
    *out = (rapt_pair_scores){0};
    rapt_code code = score_options_take(options, &o, &own);
    code = code ? code : score_check_model(m, &own);
    if (!code && !(out->begins = calloc(rapt_pairs_count(pairs) + 1, sizeof *out->begins)))
        code = rapt_fail(&own, RAPT_ERR_MEMORY, "out of memory for %zu pairs", rapt_pairs_count(pairs));
    if (!code)
        taker_pass_empty(&t);
    if (!code && out->count < rapt_pairs_count(pairs)) /* a data set has one at least */
        code = score_dataset(m, pairs, &o, &(score_watch){score_take_pairs, &t}, &sums, &own);
    if (code) {
        rapt_pair_scores_free(out);
        return rapt_fail(err, code, "%s", own.message);
    }
    taker_pass_empty(&t);
    return RAPT_OK;
}

void rapt_pair_scores_free(rapt_pair_scores *s)
{
    free(s->begins);
    free(s->tokens);
    free(s->log_probs);
    *s = (rapt_pair_scores){0};
}
