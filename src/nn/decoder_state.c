/* nn/decoder_state.c: keys and values kept between decoding steps (the KV cache). */
#include "nn/decoder_state.h"
#include "nn/kv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

static bool allocate(rapt_decoder_state *s, const rapt_tensor *memory, const int32_t *lens, size_t capacity)
{
    size_t hidden = memory->shape[2];
    s->self = arena_array(&s->memory, s->layers, sizeof *s->self);
    s->cross = arena_array(&s->memory, s->layers, sizeof *s->cross);
    s->saved = arena_array(&s->memory, s->batch * capacity, hidden * sizeof *s->saved);
    s->memory_lens = lens ? arena_array(&s->memory, s->batch, sizeof *lens) : NULL;
    bool ok = s->self && s->cross && s->saved && (!lens || s->memory_lens);
    if (ok && lens)
        memcpy(s->memory_lens, lens, s->batch * sizeof *lens);
    for (size_t i = 0; ok && i < s->layers; i++)
        ok = kv_make(&s->self[i], &s->memory, s->batch, capacity, hidden) &&
             kv_make(&s->cross[i], &s->memory, s->batch, memory->shape[1], hidden);
    return ok;
}

static void keep(rapt_tensor *cache, const rapt_tensor *x)
{
    memcpy(cache->data, x->data, rapt_tensor_size(x) * sizeof *x->data);
}

static rapt_code project_memory(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tensor *memory,
                                rapt_error *err)
{
    for (size_t i = 0; i < s->layers; i++) {
        rapt_tensor *k = rapt_linear_forward(t, &m->blocks[i].cross_attention.k, memory);
        rapt_tensor *v = rapt_linear_forward(t, &m->blocks[i].cross_attention.v, memory);
        rapt_code code = rapt_tape_status(t, err);
        if (code)
            return code;
        keep(&s->cross[i].k, k);
        keep(&s->cross[i].v, v);
    }
    return RAPT_OK;
}

/* The encoder's memory of a whole batch, with padding: without it, rows are not where the cache has them. */
static rapt_code check_memory(const rapt_tape *t, const rapt_tensor *memory, rapt_error *err)
{
    char text[96];
    rapt_code code = rapt_tape_status(t, err);
    if (!code && memory->ndim != 3)
        code = rapt_fail(err, RAPT_SHAPE, "decoder: the memory %s%s is not [batch, time, feature]",
                         rapt_shape_text(memory, text, sizeof text), memory->ragged ? ", rows without padding," : "");
    return code;
}

rapt_decoder_state *rapt_decoder_state_new(rapt_tape *t, const rapt_decoder *m, rapt_tensor *memory,
                                           const int32_t *memory_lens, size_t capacity, rapt_error *err)
{
    if (check_memory(t, memory, err))
        return NULL;
    rapt_decoder_state *s = calloc(1, sizeof *s);
    if (s) {
        arena_init(&s->memory, CHUNK);
        s->layers = m->layers;
        s->batch = memory->shape[0];
    }
    if (!s || !allocate(s, memory, memory_lens, capacity))
        rapt_fail(err, RAPT_NO_MEMORY, "no memory to decode %zu sentences of %zu tokens", memory->shape[0], capacity);
    else if (project_memory(t, m, s, memory, err) == RAPT_OK)
        return s;
    rapt_decoder_state_free(s);
    return NULL;
}

void rapt_decoder_state_free(rapt_decoder_state *s)
{
    if (!s)
        return;
    arena_free(&s->memory);
    free(s);
}

size_t rapt_decoder_state_past(const rapt_decoder_state *s)
{
    return s->past;
}

static void reorder(const rapt_decoder_state *s, rapt_tensor *x, const int32_t *parents)
{
    size_t row = x->shape[1] * x->shape[2], used = s->past * x->shape[2];
    for (size_t i = 0; i < s->batch; i++)
        memcpy(s->saved + i * row, x->data + (size_t)parents[i] * row, used * sizeof *x->data);
    for (size_t i = 0; i < s->batch; i++)
        memcpy(x->data + i * row, s->saved + i * row, used * sizeof *x->data);
}

void rapt_decoder_state_reorder(rapt_decoder_state *s, const int32_t *parents)
{
    for (size_t i = 0; i < s->layers; i++) {
        reorder(s, &s->self[i].k, parents);
        reorder(s, &s->self[i].v, parents);
    }
}
