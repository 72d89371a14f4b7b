/* nn/lm_step.c: the step of a language model with a KV cache: the next tokens of some of its rows in one pass, whose attention
 * alone knows that rows differ in length; and the window that slides over a text longer than the context. For generation; the
 * next token is chosen elsewhere, in decode/. */
#include "nn/lm_step.h"

#include "nn/block.h"
#include "nn/lm_core.h"
#include "nn/ragged_tokens.h"
#include "tape/tape_core.h"

#include <string.h>

rapt_kv_sizes rapt_lm_kv_sizes(const rapt_lm *m, size_t rows)
{
    const rapt_lm_config *c = &m->config;
    return (rapt_kv_sizes){m->layers, rows, c->context, block_kv_features(&c->block), .grows = true,
                           .head = block_head_features(&c->block)};
}

/* ---- any step ----------------------------------------------------------------------------------------------- */

/* Tokens [batch, time], which have lengths if they come from pieces. */
typedef struct lm_step_input {
    rapt_tokens tokens;
    const lm_piece *pieces; /* [batch]; NULL: row b of the tokens continues row b of the cache */
} lm_step_input;

static size_t lm_step_row(const lm_step_input *in, size_t b)
{
    return in->pieces ? in->pieces[b].row : b;
}

static size_t lm_step_count(const lm_step_input *in, size_t b)
{
    return in->pieces ? in->pieces[b].count : in->tokens.time;
}

/* Where each row of the tokens continues, [batch], in a cache that has memory for them. NULL: the tape has failed. */
static const rapt_cached_row *lm_step_begin(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const lm_step_input *in)
{
    rapt_cached_row *at = tape_alloc(t, in->tokens.batch, sizeof *at);
    const size_t context = m->config.context;
    size_t longest = 0;
    rapt_error err = {0};
    if (rapt_kv_cache_sizes(c).layers != m->layers)
        rapt_tape_fail(t, RAPT_ERR_SHAPE, "a KV cache of %zu layers for a model of %zu", rapt_kv_cache_sizes(c).layers,
                       m->layers);
    for (size_t b = 0; !tape_failed(t) && b < in->tokens.batch; b++) {
        const size_t row = lm_step_row(in, b), past = kv_cache_row_past(c, row), count = lm_step_count(in, b);
        if (count == 0)
            rapt_tape_fail(t, RAPT_ERR_SHAPE, "row %zu of a step has no tokens", b);
        else if (past > context || count > context - past)
            rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu tokens are more than the model's context of %zu", past + count, context);
        else if (!lm_check_ids(t, m, in->tokens, b, past))
            at[b] = (rapt_cached_row){row, past};
        longest = past + count > longest ? past + count : longest;
    }
    if (!tape_failed(t) && rapt_kv_cache_reserve(c, longest, &err))
        rapt_tape_fail(t, err.code, "%s", err.message);
    for (size_t b = 0; !tape_failed(t) && b < in->tokens.batch; b++)
        kv_cache_row_touch(c, at[b].row, at[b].past + lm_step_count(in, b));
    return tape_failed(t) ? NULL : at;
}

/* Whether all rows of the cache continue at one position. Operations then need no table of rows, and can be observed. */
static bool lm_step_is_even(const rapt_kv_cache *c, const lm_step_input *in, const rapt_cached_row *at)
{
    bool even = !in->pieces && in->tokens.batch == rapt_kv_cache_rows(c);
    for (size_t b = 0; even && b < in->tokens.batch; b++)
        even = at[b].past == rapt_kv_cache_past(c);
    return even;
}

/* Hidden states of the tokens, whose keys and values are appended; the caller must call lm_step_end. */
static rapt_tensor *lm_step_hidden(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const lm_step_input *in)
{
    const rapt_cached_row *at = lm_step_begin(t, m, c, in);
    if (!at)
        return &t->poison;
    const size_t past = rapt_kv_cache_past(c);
    rapt_kv *layers = rapt_kv_cache_layer(c, 0);
    if (lm_step_is_even(c, in, at))
        return lm_blocks(t, m, rapt_preprocess(t, &m->input, in->tokens, past), layers, past);
    for (size_t i = 0; i < m->layers; i++)
        layers[i].cached = at;
    rapt_tensor *x = lm_blocks(t, m, rapt_preprocess_cached(t, &m->input, in->tokens, at), layers, 0);
    for (size_t i = 0; i < m->layers; i++)
        layers[i].cached = NULL; /* the table belongs to this pass */
    return x;
}

/* Counts the positions, unless the step has failed. */
static void lm_step_end(const rapt_tape *t, rapt_kv_cache *c, const lm_step_input *in)
{
    for (size_t b = 0; !tape_failed(t) && b < in->tokens.batch; b++)
        kv_cache_row_advance(c, lm_step_row(in, b), lm_step_count(in, b));
}

/* Tokens at the end of row b whose logits are needed. */
static size_t lm_step_wants(const lm_step_input *in, size_t b)
{
    const lm_piece *p = in->pieces ? &in->pieces[b] : NULL;
    return !p || p->logits == LM_PIECE_LAST ? 1 : p->logits == LM_PIECE_ALL ? p->count : 0;
}

/* The rows of x [all tokens, d_model] whose logits are needed: [rows, 1, d_model]. */
static rapt_tensor *lm_step_gather(rapt_tape *t, const rapt_tensor *x, const lm_step_input *in, size_t rows)
{
    const size_t d = rapt_tensor_features(x);
    size_t token = 0, row = 0;
    rapt_tensor *y = rapt_tape_tensor(t, 3, (size_t[]){rows, 1, d}, false);
    for (size_t b = 0; !tape_failed(t) && b < in->tokens.batch; b++) {
        const size_t wanted = lm_step_wants(in, b);
        token += lm_step_count(in, b);
        memcpy(y->data + row * d, x->data + (token - wanted) * d, wanted * d * sizeof *y->data);
        row += wanted;
    }
    return y;
}

/* ---- all rows ----------------------------------------------------------------------------------------------- */

/* NULL if the tokens are as many for each row of the cache; else the poison tensor. */
static rapt_tensor *lm_step_refuse(rapt_tape *t, const rapt_kv_cache *c, rapt_tokens tokens)
{
    if (tokens.lens)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "the rows of a language model are of one length");
    if (rapt_kv_cache_rows(c) != tokens.batch)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu rows of tokens for a KV cache of %zu", tokens.batch, rapt_kv_cache_rows(c));
    return NULL;
}

rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, bool last_only)
{
    const lm_step_input in = {.tokens = tokens};
    rapt_tensor *bad = lm_step_refuse(t, cache, tokens);
    if (bad)
        return bad;
    rapt_tensor *x = lm_step_hidden(t, m, cache, &in);
    if (last_only && tokens.time > 1 && !tape_failed(t))
        x = lm_step_gather(t, x, &in, tokens.batch);
    rapt_tensor *logits = lm_logits(t, m, x);
    lm_step_end(t, cache, &in);
    return logits;
}

rapt_tensor *lm_cached_loss(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, rapt_tokens labels,
                            const rapt_loss_options *options, rapt_loss_sums *parts)
{
    rapt_kv_cache_clear(cache, tokens.batch);
    rapt_tensor *bad = lm_step_refuse(t, cache, tokens);
    return bad ? bad : lm_loss_of(t, m, lm_step_hidden(t, m, cache, &(lm_step_input){.tokens = tokens}), labels, options, parts);
}

/* ---- pieces ------------------------------------------------------------------------------------------------- */

static rapt_tokens lm_step_tokens(rapt_tape *t, const lm_piece *pieces, size_t count)
{
    token_row *rows = tape_alloc(t, count, sizeof *rows);
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = (token_row){pieces[i].ids, pieces[i].count};
    return rows ? ragged_tokens_pack(t, rows, count, 0) : (rapt_tokens){0};
}

rapt_tensor *lm_step_pieces(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const lm_piece *pieces, size_t count)
{
    const lm_step_input in = {lm_step_tokens(t, pieces, count), pieces};
    size_t wanted = 0;
    rapt_tensor *x = lm_step_hidden(t, m, c, &in);
    for (size_t i = 0; i < count; i++)
        wanted += lm_step_wants(&in, i);
    if (wanted > 0 && !tape_failed(t))
        x = lm_logits(t, m, lm_step_gather(t, x, &in, wanted));
    lm_step_end(t, c, &in);
    return x;
}

/* ---- the window --------------------------------------------------------------------------------------------- */

size_t rapt_lm_visible(const rapt_lm_config *config, size_t n)
{
    size_t context = config->context, half = context > 1 ? context / 2 : 1;
    return n <= context ? n : n - (n - context + half - 1) / half * half;
}

/* Columns first .. end - 1 of text [rows, stride]: in place if there is one row, else copied to the tape's memory. */
static rapt_tokens lm_columns(rapt_tape *t, size_t rows, const int32_t *text, size_t stride, size_t first, size_t end)
{
    size_t time = end - first;
    if (rows == 1)
        return (rapt_tokens){text + first, 1, time, NULL};
    int32_t *ids = tape_alloc(t, rows * time, sizeof *ids);
    for (size_t b = 0; ids && b < rows; b++)
        memcpy(ids + b * time, text + b * stride + first, time * sizeof *ids);
    return (rapt_tokens){ids, rows, ids ? time : 0, NULL};
}

rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, const int32_t *text, size_t stride,
                          size_t count)
{
    size_t first = count - rapt_lm_visible(&m->config, count);
    if (count == 0 || count > stride)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "the next token of a text of %zu tokens in rows of %zu", count, stride);
    /* 1. The number of visible tokens that are cached; never the last token, because its logits are returned. */
    size_t held = rapt_kv_cache_first(cache) + rapt_kv_cache_past(cache);
    size_t from = rapt_kv_cache_first(cache) != first ? first : held < count ? held : count - 1;
    /* 2. The other tokens. They are checked before the positions that they replace are dropped. */
    rapt_tokens tokens = lm_columns(t, rapt_kv_cache_rows(cache), text, stride, from, count);
    for (size_t b = 0; b < tokens.batch; b++) {
        rapt_tensor *bad = lm_check_ids(t, m, tokens, b, from);
        if (bad)
            return bad;
    }
    if (rapt_kv_cache_first(cache) != first)
        kv_cache_move(cache, first);
    rapt_kv_cache_truncate(cache, from);
    return rapt_lm_step(t, m, cache, tokens, true);
}
