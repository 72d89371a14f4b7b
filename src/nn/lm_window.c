/* nn/lm_window.c: decoding with a language model: steps with a KV cache, and the window that slides over a text longer than
 * the context. For generation; how the next token is chosen is not its business. */
#include "nn/lm_core.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps -------------------------------------------------------------------------------------------------- */

rapt_kv_sizes rapt_lm_kv_sizes(const rapt_lm *m, size_t rows)
{
    const rapt_lm_config *c = &m->config;
    return (rapt_kv_sizes){m->layers, rows, c->context, c->d_model / c->heads * c->kv_heads};
}

/* [batch, time, feature] to [batch, 1, feature]. */
static rapt_tensor *last_position(rapt_tape *t, rapt_tensor *x)
{
    if (rapt_tape_error(t)->code || x->shape[1] == 1)
        return x;
    size_t time = x->shape[1], d = x->shape[2];
    rapt_tensor *y = rapt_tape_tensor(t, 3, (size_t[]){x->shape[0], 1, d}, false);
    for (size_t b = 0; !rapt_tape_error(t)->code && b < x->shape[0]; b++)
        memcpy(y->data + b * d, x->data + (b * time + time - 1) * d, d * sizeof *y->data);
    return y;
}

/* NULL where the cache is the model's and has the rows of the tokens; else the poison tensor. */
static rapt_tensor *check_cache(rapt_tape *t, const rapt_lm *m, const rapt_kv_cache *c, rapt_tokens tokens)
{
    if (rapt_kv_cache_sizes(c).layers != m->layers)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "a KV cache of %zu layers for a model of %zu", rapt_kv_cache_sizes(c).layers,
                              m->layers);
    if (rapt_kv_cache_rows(c) != tokens.batch)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu rows of tokens for a KV cache of %zu", tokens.batch,
                              rapt_kv_cache_rows(c));
    return NULL;
}

rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *cache, rapt_tokens tokens, bool last_only)
{
    rapt_tensor *bad = check_cache(t, m, cache, tokens);
    if (bad)
        return bad;
    rapt_tensor *x = lm_hidden(t, m, tokens, cache);
    rapt_tensor *logits = lm_logits(t, m, last_only ? last_position(t, x) : x);
    if (!rapt_tape_error(t)->code)
        rapt_kv_cache_advance(cache, tokens.time);
    return logits;
}

/* ---- the window --------------------------------------------------------------------------------------------- */

struct rapt_lm_window {
    rapt_kv_cache *cache;
    rapt_lm_config config;
    size_t dropped;   /* tokens of each text before position 0 of the cache */
    int32_t *history; /* [rows, context]: the tokens at positions 0 .. past - 1 */
    int32_t *scratch; /* as many, for rows that are selected */
};

rapt_lm_window *rapt_lm_window_new(const rapt_lm *m, size_t rows, rapt_error *err)
{
    rapt_lm_window *w = calloc(1, sizeof *w);
    if (w) {
        w->config = m->config;
        w->cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, rows), err);
        w->history = w->cache ? calloc(2 * rows, m->config.context * sizeof *w->history) : NULL;
    }
    if (w && w->history) {
        w->scratch = w->history + rows * m->config.context;
        return w;
    }
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a window over %zu rows of %zu tokens", rows, m->config.context);
    rapt_lm_window_free(w);
    return NULL;
}

void rapt_lm_window_free(rapt_lm_window *w)
{
    if (!w)
        return;
    rapt_kv_cache_free(w->cache);
    free(w->history);
    free(w);
}

void rapt_lm_window_clear(rapt_lm_window *w, size_t rows)
{
    rapt_kv_cache_clear(w->cache, rows);
    w->dropped = 0;
}

size_t rapt_lm_window_past(const rapt_lm_window *w)
{
    return rapt_kv_cache_past(w->cache);
}

size_t rapt_lm_window_tokens(const rapt_lm_window *w)
{
    return w->dropped + rapt_lm_window_past(w);
}

size_t rapt_lm_visible(const rapt_lm_config *config, size_t n)
{
    size_t context = config->context, half = context > 1 ? context / 2 : 1;
    return n <= context ? n : n - (n - context + half - 1) / half * half;
}

size_t rapt_lm_window_truncate(rapt_lm_window *w, size_t tokens)
{
    size_t have = rapt_lm_window_tokens(w);
    tokens = tokens < have ? tokens : have;
    if (tokens - rapt_lm_visible(&w->config, tokens) != w->dropped) {
        rapt_lm_window_clear(w, rapt_kv_cache_rows(w->cache));
        return 0;
    }
    rapt_kv_cache_truncate(w->cache, tokens - w->dropped);
    return tokens;
}

void rapt_lm_window_select(rapt_lm_window *w, const int32_t *parents, size_t rows)
{
    size_t context = w->config.context, bytes = context * sizeof *w->history;
    memcpy(w->scratch, w->history, rapt_kv_cache_rows(w->cache) * bytes);
    for (size_t i = 0; i < rows; i++)
        memcpy(w->history + i * context, w->scratch + (size_t)parents[i] * context, bytes);
    rapt_kv_cache_select(w->cache, parents, rows);
}

/* Drops the oldest tokens of each text, and the keys and values of all, whose positions are others now. Gives the visible
 * tokens [rows, visible], `tokens` the last of them, in w->scratch. */
static rapt_tokens slide(rapt_lm_window *w, rapt_tokens tokens, size_t visible)
{
    size_t past = rapt_lm_window_past(w), dropped = past + tokens.time - visible;
    for (size_t b = 0; b < tokens.batch; b++)
        for (size_t i = 0; i < visible; i++) {
            size_t at = dropped + i;
            w->scratch[b * visible + i] = at < past ? w->history[b * w->config.context + at]
                                                    : tokens.ids[b * tokens.time + at - past];
        }
    rapt_kv_cache_truncate(w->cache, 0);
    w->dropped += dropped;
    return (rapt_tokens){w->scratch, tokens.batch, visible};
}

rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_lm_window *w, rapt_tokens tokens)
{
    size_t past = rapt_lm_window_past(w), visible = rapt_lm_visible(&w->config, past + tokens.time);
    rapt_tensor *bad = check_cache(t, m, w->cache, tokens);
    if (bad || (bad = lm_check_ids(t, m, tokens, past)))
        return bad;
    if (visible < past + tokens.time) {
        tokens = slide(w, tokens, visible);
        past = 0;
    }
    rapt_tensor *logits = rapt_lm_step(t, m, w->cache, tokens, true);
    if (rapt_tape_error(t)->code) {
        w->dropped = past == 0 ? 0 : w->dropped; /* what slid is lost: the window is empty */
        return logits;
    }
    for (size_t b = 0; b < tokens.batch; b++)
        memcpy(w->history + b * w->config.context + past, tokens.ids + b * tokens.time, tokens.time * sizeof *tokens.ids);
    return logits;
}
