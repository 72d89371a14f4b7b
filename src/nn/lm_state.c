/* nn/lm_state.c: decoding with a language model: keys and values kept from step to step, and the window that moves on
 * when the context is full. For generation; how the next token is chosen is not its business. */
#include "nn/lm_core.h"

#include "nn/kv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

struct rapt_lm_state {
    arena memory;
    size_t batch, context, past;
    rapt_kv *kv;      /* [layers] */
    int32_t *history; /* [batch, context]: the tokens at positions 0 .. past - 1 */
    int32_t *window;  /* [batch, context]: those that stay when the oldest go */
};

static bool lm_state_allocate(rapt_lm_state *s, const rapt_lm *m)
{
    size_t features = m->config.d_model / m->config.heads * m->config.kv_heads;
    s->kv = arena_array(&s->memory, m->layers, sizeof *s->kv);
    s->history = arena_array(&s->memory, s->batch * s->context, sizeof *s->history);
    s->window = arena_array(&s->memory, s->batch * s->context, sizeof *s->window);
    bool ok = s->kv && s->history && s->window;
    for (size_t i = 0; ok && i < m->layers; i++)
        ok = kv_make(&s->kv[i], &s->memory, s->batch, s->context, features);
    return ok;
}

rapt_lm_state *rapt_lm_state_new(const rapt_lm *m, size_t batch, rapt_error *err)
{
    rapt_lm_state *s = calloc(1, sizeof *s);
    if (s) {
        arena_init(&s->memory, CHUNK);
        s->batch = batch;
        s->context = m->config.context;
    }
    if (s && lm_state_allocate(s, m))
        return s;
    rapt_fail(err, RAPT_ERR_MEMORY, "no memory to keep %zu rows of %zu tokens", batch, m->config.context);
    rapt_lm_state_free(s);
    return NULL;
}

void rapt_lm_state_free(rapt_lm_state *s)
{
    if (!s)
        return;
    arena_free(&s->memory);
    free(s);
}

size_t rapt_lm_state_past(const rapt_lm_state *s)
{
    return s->past;
}

void rapt_lm_state_clear(rapt_lm_state *s)
{
    s->past = 0;
}

static void remember(rapt_lm_state *s, rapt_tokens tokens)
{
    for (size_t b = 0; b < s->batch; b++)
        memcpy(s->history + b * s->context + s->past, tokens.ids + b * tokens.time, tokens.time * sizeof *tokens.ids);
    s->past += tokens.time;
}

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

static rapt_tensor *check_batch(rapt_tape *t, const rapt_lm_state *s, rapt_tokens tokens)
{
    if (tokens.batch == s->batch)
        return NULL;
    return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu rows of tokens for a state of %zu", tokens.batch, s->batch);
}

rapt_tensor *rapt_lm_step(rapt_tape *t, const rapt_lm *m, rapt_lm_state *s, rapt_tokens tokens, bool last_only)
{
    rapt_tensor *bad = check_batch(t, s, tokens);
    if (bad)
        return bad;
    rapt_tensor *x = lm_hidden(t, m, tokens, s->kv, s->past);
    rapt_tensor *logits = lm_logits(t, m, last_only ? last_position(t, x) : x);
    if (!rapt_tape_error(t)->code)
        remember(s, tokens);
    return logits;
}

size_t rapt_lm_visible(const rapt_lm_config *config, size_t n)
{
    size_t context = config->context, half = context > 1 ? context / 2 : 1;
    return n <= context ? n : n - (n - context + half - 1) / half * half;
}

/* The last tokens of what the state holds and `tokens` together, as many as stay visible. */
static rapt_tokens visible_tokens(rapt_lm_state *s, rapt_tokens tokens, size_t visible)
{
    size_t dropped = s->past + tokens.time - visible;
    for (size_t b = 0; b < s->batch; b++)
        for (size_t i = 0; i < visible; i++) {
            size_t at = dropped + i;
            s->window[b * visible + i] = at < s->past ? s->history[b * s->context + at]
                                                      : tokens.ids[b * tokens.time + at - s->past];
        }
    return (rapt_tokens){s->window, s->batch, visible};
}

rapt_tensor *rapt_lm_next(rapt_tape *t, const rapt_lm *m, rapt_lm_state *s, rapt_tokens tokens)
{
    rapt_tensor *bad = check_batch(t, s, tokens);
    if (bad || (bad = lm_check_ids(t, m, tokens, s->past)))
        return bad;
    size_t past = s->past, visible = rapt_lm_visible(&m->config, past + tokens.time);
    if (visible == past + tokens.time)
        return rapt_lm_step(t, m, s, tokens, true);
    rapt_tokens window = visible_tokens(s, tokens, visible);
    s->past = 0;
    return rapt_lm_step(t, m, s, window, true);
}
