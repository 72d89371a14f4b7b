/* decode/pair_scoring.c: pairs as batches of tokens, and the log-probabilities of their targets. */
#include "decode/pair_scoring.h"

#include "base/buffer.h"
#include "base/min.h"
#include "data/dataset.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <stdlib.h>
#include <string.h>

/* Limits of a batch on a tape that others use. A pass of that size takes about as long as a few decoding steps of 64
 * sentences. */
#define SHARED_TOKENS ((size_t)512)
#define SHARED_LOGITS ((size_t)16 << 20)

/* ---- batches ------------------------------------------------------------------------------------------------------ */

/* Pairs of a batch, if each is as long as the longest. */
static size_t scoring_shared_pairs(const rapt_model *m, const rapt_dataset *d)
{
    size_t source = 1, target = 1;
    for (size_t i = 0; i < d->count; i++) {
        source = d->examples[i].source_len > source ? d->examples[i].source_len : source;
        target = d->examples[i].target_len > target ? d->examples[i].target_len : target;
    }
    if (d->options.pad_to_max)
        source = target = d->options.max_len;
    const size_t logits = target * m->translation.net->config.target_vocab;
    const size_t fit = MIN(SHARED_TOKENS / (source + target), SHARED_LOGITS / logits);
    return fit < 1 ? 1 : MIN(fit, (size_t)PAIR_SCORING_BATCH);
}

static rapt_code scoring_load(pair_scoring *s, const rapt_score_options *o, bool shared, rapt_error *err)
{
    const rapt_translation_model *m = &s->m->translation;
    rapt_dataset_options data_options = rapt_dataset_options_default();
    rapt_loader_options loader_options = rapt_loader_options_default();
    data_options.max_len = m->max_len;
    data_options.too_long = o->strict ? RAPT_TOO_LONG_ERROR : RAPT_TOO_LONG_CUT;
    data_options.pad_to_max = m->pad_to_max;
    data_options.special = &m->special;
    data_options.specials_in_text = m->specials_in_text;
    data_options.stop = o->stop;
    data_options.stop_context = o->context;
    s->data = rapt_dataset_new(s->pairs, m->source, m->target, &data_options, err);
    if (!s->data)
        return err->code;
    loader_options.batch_size = shared ? scoring_shared_pairs(s->m, s->data) : PAIR_SCORING_BATCH;
    s->loader = rapt_loader_new(s->data, &loader_options, err);
    s->sums.skipped = rapt_dataset_empty(s->data);
    return s->loader ? RAPT_OK : err->code;
}

static rapt_code scoring_check_model(const rapt_model *m, rapt_error *err)
{
    if (m->task != RAPT_TASK_TRANSLATION)
        return rapt_fail(err, RAPT_ERR_VALUE, "sentence pairs are scored by translation models");
    if (m->translation.source_begin_count || m->search.forced_bos.count)
        return rapt_fail(err, RAPT_ERR_VALUE, "the loss of a model of type %s, whose sentences begin with tokens of their own, "
                         "is not computed; rapt translate and rapt score give its BLEU", m->family);
    return RAPT_OK;
}

/* Pairs that the data set lacks come before the next one that it has. */
static void scoring_pass_empty(pair_scoring *s)
{
    rapt_pair_scores *to = &s->each;
    for (; to->count < rapt_pairs_count(s->pairs) && dataset_has_empty_side(s->pairs, to->count); to->count++)
        to->begins[to->count + 1] = to->begins[to->count];
}

rapt_code pair_scoring_begin(pair_scoring *s, const rapt_model *m, const rapt_pairs *pairs, const rapt_score_options *o,
                             bool each, bool shared, rapt_error *err)
{
    const size_t count = rapt_pairs_count(pairs);
    size_t empty = 0;
    *s = (pair_scoring){.m = m, .pairs = pairs};
    rapt_code code = scoring_check_model(m, err);
    if (!code && each && !(s->each.begins = calloc(count + 1, sizeof *s->each.begins)))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu pairs", count);
    while (empty < count && dataset_has_empty_side(pairs, empty))
        empty++;
    if (!code && empty < count) /* a data set has one at least */
        code = scoring_load(s, o, shared, err);
    return code == RAPT_ERR_INTERRUPTED ? score_cancelled(err) : code; // whoever noticed it
}

void pair_scoring_free(pair_scoring *s)
{
    rapt_loader_free(s->loader);
    rapt_dataset_free(s->data);
    rapt_pair_scores_free(&s->each);
}

size_t pair_scoring_batches(const pair_scoring *s)
{
    return s->loader ? rapt_loader_batches(s->loader) : 0;
}

/* ---- a pass ------------------------------------------------------------------------------------------------------- */

/* The logits and the loss of a batch, which may also only be counted. */
static rapt_code scoring_pass(const pair_scoring *s, rapt_tape *t, const rapt_batch *b, rapt_loss_sums *parts,
                              const rapt_tensor **logits, rapt_error *err)
{
    const rapt_loss_options o = {.valid_lens = b->target_lens};
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_transformer_forward(t, s->m->translation.net, b->source, b->source_lens, b->inputs);
    rapt_op_cross_entropy(t, x, b->labels, &o, parts);
    *logits = x;
    return rapt_tape_status(t, err);
}

rapt_code pair_scoring_memory(pair_scoring *s, size_t *bytes, rapt_error *err)
{
    const rapt_compute one = {.threads = 1};
    rapt_loss_sums parts = {0};
    const rapt_tensor *logits;
    *bytes = 0;
    if (!s->loader)
        return RAPT_OK;
    rapt_tape *t = tape_new_of_pool(&one, NULL, err);
    if (!t)
        return err->code;
    const rapt_batch *b = rapt_loader_largest(s->loader);
    tape_count(t, true);
    rapt_code code = b ? scoring_pass(s, t, b, &parts, &logits, err)
                       : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    *bytes = rapt_tape_memory(t);
    rapt_tape_free(t);
    return code;
}

static rapt_code scoring_take_pairs(pair_scoring *s, const score_batch *b, rapt_error *err)
{
    rapt_pair_scores *to = &s->each;
    for (size_t row = 0; row < b->labels.batch; row++) {
        scoring_pass_empty(s);
        const size_t at = to->begins[to->count], count = (size_t)b->valid_lens[row];
        if (!ARRAY_RESERVE(&to->tokens, &s->ids, at + count) || !ARRAY_RESERVE(&to->log_probs, &s->log_probs, at + count))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", at + count);
        memcpy(to->tokens + at, b->labels.ids + row * b->labels.time, count * sizeof *to->tokens);
        score_row(b, row, to->log_probs + at);
        to->begins[++to->count] = at + count;
    }
    return RAPT_OK;
}

rapt_code pair_scoring_batch(pair_scoring *s, rapt_tape *t, size_t batch, const score_watch *watch, rapt_error *err)
{
    const rapt_batch *b = rapt_loader_batch(s->loader, 0, batch);
    rapt_loss_sums parts = {0};
    const rapt_tensor *logits;
    if (!b)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
    rapt_code code = scoring_pass(s, t, b, &parts, &logits, err);
    s->sums.nll += parts.nll;
    s->sums.tokens += parts.tokens;
    if (code)
        return code;
    const score_batch all = {&b->source, b->source_lens, b->inputs, b->labels, b->target_lens, logits, t->k};
    code = watch ? watch->fn(watch->context, &all, err) : RAPT_OK;
    return !code && s->each.begins ? scoring_take_pairs(s, &all, err) : code;
}

rapt_pair_scores pair_scoring_take(pair_scoring *s)
{
    scoring_pass_empty(s);
    const rapt_pair_scores each = s->each;
    s->each = (rapt_pair_scores){0};
    return each;
}

void rapt_pair_scores_free(rapt_pair_scores *s)
{
    free(s->begins);
    free(s->tokens);
    free(s->log_probs);
    *s = (rapt_pair_scores){0};
}
