/* decode/score_text.c: the loss of a language model on whole texts, window by window, and on conversations; the options of all
 * scores. */
#include "decode/score_watch.h"

#include "base/sized.h"
#include "data/tokens/token_file.h"
#include "decode/model_tapes.h"
#include "decode/option_defaults.h"
#include "decode/sampler.h"
#include "io/model_core.h"
#include "nn/lm_core.h"
#include "tape/tape_core.h"
#include "text/tokenizer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define MAX_LOGITS ((size_t)16 << 20) /* logits of a batch of windows */
#define MAX_ROWS 64

SIZED_ENDS_WITH(rapt_score_options, reserved);

void rapt_score_options_init(rapt_score_options *o, size_t size)
{
    sized_init(o, size, &(rapt_score_options){SCORE_DEFAULTS}, sizeof *o);
}

rapt_code score_options_take(const rapt_score_options *given, rapt_score_options *out, rapt_error *err)
{
    *out = rapt_score_options_default();
    return sized_take(out, given, out->reserved, sizeof out->reserved, "score_options", err);
}

rapt_code score_cancelled(rapt_error *err)
{
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the score was cancelled");
}

rapt_code score_asks(const rapt_score_options *o, rapt_error *err)
{
    return o->stop && o->stop(o->context) ? score_cancelled(err) : RAPT_OK;
}

rapt_code score_finish(rapt_score *out, rapt_error *err)
{
    const bool finite = isfinite(out->nll);
    if (!finite)
        *out = (rapt_score){0};
    if (!finite)
        return rapt_fail(err, RAPT_ERR_NOT_FINITE, "the loss is not a finite number");
    out->loss = out->nll / (double)out->tokens;
    out->perplexity = fmin(exp(out->loss), DBL_MAX);
    out->bits_per_byte = out->bytes > 0 ? out->nll / log(2) / (double)out->bytes : 0;
    return RAPT_OK;
}

static rapt_code score_check_tokens(const rapt_model *m, const rapt_token_file *f, rapt_error *err)
{
    if (m->task != RAPT_TASK_LANGUAGE_MODEL)
        return rapt_fail(err, RAPT_ERR_VALUE, "texts are scored by language models");
    const size_t vocab = m->language.net->config.vocab;
    size_t i = 0;
    int32_t id = 0;
    if (rapt_token_file_count(f) < 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "a text of one token has no loss: nothing comes before it");
    if ((size_t)rapt_token_file_max_id(f) < vocab)
        return RAPT_OK;
    for (rapt_token_file_ids(f, i, 1, &id); (size_t)id < vocab; rapt_token_file_ids(f, i, 1, &id))
        i++;
    return rapt_fail(err, RAPT_ERR_VALUE, "token %zu, at byte %zu, is %d; the model knows %zu", i,
                     rapt_token_file_bytes(f, m->language.tokenizer, 0, i) + 1, (int)id, vocab);
}

/* Batches of windows or of conversations. */
typedef struct score_source {
    size_t count;
    bool (*at)(void *of, size_t i, score_batch *out); /* false: out of memory */
    void *of;
} score_source;

static bool score_window_at(void *of, size_t i, score_batch *out)
{
    const rapt_window_batch *b = rapt_windows_at(of, i);
    *out = (score_batch){.inputs = b->inputs, .labels = b->labels, .valid_lens = b->valid_lens};
    return true;
}

static bool score_conversations_at(void *of, size_t i, score_batch *out)
{
    const rapt_batch *b = rapt_loader_batch(of, 0, i);
    if (b)
        *out = (score_batch){.inputs = b->inputs, .labels = b->labels, .valid_lens = b->target_lens};
    out->inputs.lens = out->labels.lens = NULL; /* no token sees the padding behind it */
    return b != NULL;
}

/* The loss of a batch with somebody who compares the logits. */
static rapt_code score_watched(const rapt_model *m, rapt_tape *t, rapt_kv_cache *cache, const score_batch *b,
                               const score_watch *watch, rapt_loss_sums *parts, rapt_error *err)
{
    const rapt_loss_options o = {.valid_lens = b->valid_lens};
    if (cache)
        rapt_kv_cache_clear(cache, b->inputs.batch);
    rapt_tensor *logits = cache ? rapt_lm_step(t, m->language.net, cache, b->inputs, false)
                                : rapt_lm_forward(t, m->language.net, b->inputs);
    rapt_op_cross_entropy(t, logits, b->labels, &o, parts);
    rapt_code code = rapt_tape_status(t, err);
    return code ? code : watch->fn(watch->context, &(score_batch){.inputs = b->inputs, .labels = b->labels,
                                                                  .valid_lens = b->valid_lens, .logits = logits, .k = t->k}, err);
}

/* `cache`: NULL, or attention goes through it, so that the type of its keys and values has effect. */
static rapt_code score_batches_of(const rapt_model *m, rapt_tape *t, rapt_kv_cache *cache, const score_source *source,
                                  const rapt_score_options *options, const score_watch *watch, rapt_score *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < source->count && !code; i++) {
        score_batch b = {0};
        if ((code = score_asks(options, err)))
            break;
        if (!source->at(source->of, i, &b))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
        const rapt_loss_options o = {.valid_lens = b.valid_lens};
        rapt_loss_sums parts = {0};
        rapt_tape_begin(t, (rapt_pass){0});
        if (watch)
            code = score_watched(m, t, cache, &b, watch, &parts, err);
        else if (cache)
            lm_cached_loss(t, m->language.net, cache, b.inputs, b.labels, &o, &parts);
        else
            rapt_lm_loss(t, m->language.net, b.inputs, b.labels, &o, &parts);
        out->nll += parts.nll;
        out->tokens += parts.tokens;
        code = code ? code : rapt_tape_status(t, err);
    }
    return code;
}

/* Rows of a batch. Their number depends on the model alone, as the order of the sum does. */
static size_t score_rows(const rapt_lm_config *c)
{
    size_t rows = MAX_LOGITS / c->context / c->vocab;
    return rows < 1 ? 1 : rows < MAX_ROWS ? rows : MAX_ROWS;
}

static rapt_code score_all(const rapt_model *m, const score_source *source, const rapt_score_options *o, const score_watch *watch,
                           rapt_score *out, rapt_error *err)
{
    model_tapes tapes = {0};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m->language.net, score_rows(&m->language.net->config));
    rapt_kv_cache *cache = NULL;
    sizes.storage = o->compute.kv_cache;
    rapt_code code = model_tapes_make(&tapes, m, &o->compute, MODEL_TAPES_ALL | MODEL_TAPES_PACK_IF_NEEDED, err);
    if (!code && o->compute.kv_cache != RAPT_TYPE_FP32 && !(cache = rapt_kv_cache_new(sizes, err)))
        code = err->code;
    if (!code)
        code = score_batches_of(m, tapes.all, cache, source, o, watch, out, err);
    rapt_kv_cache_free(cache);
    model_tapes_free(&tapes);
    return code;
}

static rapt_code score_all_windows(const rapt_model *m, const rapt_token_file *f, const rapt_score_options *o,
                                   const score_watch *watch, rapt_score *out, rapt_error *err)
{
    const rapt_token_range whole = rapt_token_range_all(f);
    const size_t labels = whole.end - 1, context = m->language.net->config.context, rows = score_rows(&m->language.net->config);
    rapt_windows *w = rapt_windows_new(f, &whole, context < labels ? context : labels, rows, 0, err);
    const score_source source = {w ? rapt_windows_batches(w) : 0, score_window_at, w};
    rapt_code code = w ? score_all(m, &source, o, watch, out, err) : err->code;
    rapt_windows_free(w);
    return code;
}

rapt_code score_conversations(const rapt_model *m, const rapt_dataset *d, const rapt_score_options *options,
                              const score_watch *watch, rapt_score *out, rapt_error *err)
{
    rapt_loader_options o = rapt_loader_options_default();
    *out = (rapt_score){0};
    o.batch_size = score_rows(&m->language.net->config);
    rapt_loader *l = rapt_loader_new(d, &o, err);
    const score_source source = {l ? rapt_loader_batches(l) : 0, score_conversations_at, l};
    rapt_code code = l ? score_all(m, &source, options, watch, out, err) : err->code;
    rapt_loader_free(l);
    return code ? code : score_finish(out, err);
}

rapt_code score_tokens(const rapt_model *m, const rapt_token_file *f, const rapt_score_options *options, const score_watch *watch,
                       rapt_score *out, rapt_error *err)
{
    rapt_error own = {0}; /* `err` may be NULL, or hold an earlier failure */
    *out = (rapt_score){0};
    rapt_code code = score_check_tokens(m, f, &own);
    code = code ? code : score_all_windows(m, f, options, watch, out, &own);
    if (!code) {
        out->bytes = rapt_token_file_bytes(f, m->language.tokenizer, 1, rapt_token_file_count(f));
        code = score_finish(out, &own);
    }
    if (!code)
        return RAPT_OK;
    *out = (rapt_score){0};
    return rapt_fail(err, code, "%s", own.message);
}

rapt_code rapt_score_tokens(const rapt_model *m, const rapt_token_file *tokens, const rapt_score_options *options,
                            rapt_score *out, rapt_error *err)
{
    rapt_score_options o;
    *out = (rapt_score){0};
    rapt_code code = score_options_take(options, &o, err);
    return code ? code : score_tokens(m, tokens, &o, NULL, out, err);
}

/* Where a row begins in the logits: a decoder computes only positions that count, one after the other. */
static size_t score_first_position(const score_batch *b, size_t row)
{
    size_t first = 0;
    if (!b->logits->ragged)
        return row * b->labels.time;
    for (size_t i = 0; i < row; i++)
        first += (size_t)b->valid_lens[i];
    return first;
}

void score_row(const score_batch *b, size_t row, double *log_probs)
{
    const size_t vocab = rapt_tensor_features(b->logits), first = score_first_position(b, row);
    rapt_real max, sum;
    for (size_t i = 0; i < (size_t)b->valid_lens[row]; i++) {
        const rapt_real *logits = b->logits->data + (first + i) * vocab;
        b->k->log_sum_exp(vocab, logits, &max, &sum);
        log_probs[i] = sampler_log_prob(logits[b->labels.ids[row * b->labels.time + i]], max, sum);
    }
}

/* A score_watch.fn, whose context is where the next log-probability goes. */
static rapt_code score_take_labels(void *context, const score_batch *b, rapt_error *err)
{
    double **to = context;
    (void)err;
    for (size_t row = 0; row < b->labels.batch; row++) {
        score_row(b, row, *to);
        *to += b->valid_lens[row];
    }
    return RAPT_OK;
}

rapt_code rapt_score_each(const rapt_model *m, const rapt_token_file *tokens, const rapt_score_options *options,
                          double *log_probs, rapt_error *err)
{
    rapt_score_options o;
    rapt_score sums = {0};
    rapt_error own = {0};
    rapt_code code = score_options_take(options, &o, &own);
    code = code ? code : score_check_tokens(m, tokens, &own);
    code = code ? code : score_all_windows(m, tokens, &o, &(score_watch){score_take_labels, &log_probs}, &sums, &own);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

rapt_code rapt_score_text(const rapt_model *m, const char *text, size_t size, const rapt_score_options *options, rapt_score *out,
                          rapt_error *err)
{
    rapt_error own = {0};
    int32_t *ids = NULL;
    size_t count;
    rapt_token_file *f = NULL;
    *out = (rapt_score){0};
    if (m->task != RAPT_TASK_LANGUAGE_MODEL)
        return rapt_fail(err, RAPT_ERR_VALUE, "texts are scored by language models");
    rapt_code code = size ? tokenizer_encode_within(m->language.tokenizer, text, size, true, &ids, &count, &own)
                          : rapt_fail(&own, RAPT_ERR_VALUE, "the text is empty");
    if (!code && !(f = rapt_token_file_from_ids(ids, count, rapt_tokenizer_size(m->language.tokenizer), &own)))
        code = own.code;
    code = code ? code : rapt_score_tokens(m, f, options, out, &own);
    rapt_token_file_close(f);
    free(ids);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
