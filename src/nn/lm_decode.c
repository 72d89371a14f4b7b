/* nn/lm_decode.c: decoding with a language model: steps with a KV cache, and the window that slides over a text longer than
 * the context. For generation; the next token is chosen elsewhere, in decode/. */
#include "nn/lm_core.h"

#include "nn/block.h"
#include "nn/kv_cache.h"
#include "tape/tape_core.h"

#include <string.h>

/* ---- steps -------------------------------------------------------------------------------------------------- */

rapt_kv_sizes rapt_lm_kv_sizes(const rapt_lm *m, size_t rows)
{
    const rapt_lm_config *c = &m->config;
    return (rapt_kv_sizes){m->layers, rows, c->context, block_kv_features(&c->block), .grows = true,
                           .head = block_head_features(&c->block)};
}

/* The last position of each row: [batch, time, feature] to [batch, 1, feature]. */
static rapt_tensor *lm_last_position(rapt_tape *t, rapt_tensor *x)
{
    if (rapt_tape_error(t)->code || x->shape[1] == 1)
        return x;
    size_t time = x->shape[1], d = x->shape[2];
    rapt_tensor *y = rapt_tape_tensor(t, 3, (size_t[]){x->shape[0], 1, d}, false);
    for (size_t b = 0; !rapt_tape_error(t)->code && b < x->shape[0]; b++)
        memcpy(y->data + b * d, x->data + (b * time + time - 1) * d, d * sizeof *y->data);
    return y;
}

/* NULL if the cache fits the model and the rows of the tokens, and has memory for them; else the poison tensor. Tokens beyond the
 * context are refused later. */
static rapt_tensor *lm_prepare_cache(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, rapt_tokens tokens)
{
    const size_t end = rapt_kv_cache_past(c) + tokens.time;
    rapt_error err = {0};
    if (rapt_kv_cache_sizes(c).layers != m->layers)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "a KV cache of %zu layers for a model of %zu", rapt_kv_cache_sizes(c).layers,
                              m->layers);
    if (rapt_kv_cache_rows(c) != tokens.batch)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu rows of tokens for a KV cache of %zu", tokens.batch,
                              rapt_kv_cache_rows(c));
    if (end <= m->config.context && rapt_kv_cache_reserve(c, end, &err))
        return rapt_tape_fail(t, err.code, "%s", err.message);
    return NULL;
}

rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, bool last_only)
{
    rapt_tensor *bad = lm_prepare_cache(t, m, cache, tokens);
    if (bad)
        return bad;
    rapt_tensor *x = lm_hidden(t, m, tokens, cache);
    rapt_tensor *logits = lm_logits(t, m, last_only ? lm_last_position(t, x) : x);
    if (!rapt_tape_error(t)->code)
        rapt_kv_cache_advance(cache, tokens.time);
    return logits;
}

rapt_tensor *lm_cached_loss(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, rapt_tokens labels,
                            const rapt_loss_options *options, rapt_loss_sums *parts)
{
    rapt_kv_cache_clear(cache, tokens.batch);
    rapt_tensor *bad = lm_prepare_cache(t, m, cache, tokens);
    return bad ? bad : lm_loss_of(t, m, lm_hidden(t, m, tokens, cache), labels, options, parts);
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
    rapt_tensor *bad = lm_check_ids(t, m, tokens, from);
    if (bad)
        return bad;
    if (rapt_kv_cache_first(cache) != first)
        kv_cache_move(cache, first);
    rapt_kv_cache_truncate(cache, from);
    return rapt_lm_step(t, m, cache, tokens, true);
}
