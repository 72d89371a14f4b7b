/* nn/decoder_state.c: keys and values kept between decoding steps (the KV cache). */
#include "nn/decoder_state.h"
#include "nn/kv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

static bool decoder_state_allocate_rows(rapt_decoder_state *s, size_t room)
{
    s->first = arena_array(&s->memory, s->sentences + 1, sizeof *s->first);
    s->last_reader = arena_array(&s->memory, room, sizeof *s->last_reader);
    return s->first && s->last_reader;
}

static bool decoder_state_allocate(rapt_decoder_state *s, const rapt_tensor *memory, const int32_t *lens, size_t room,
                                   size_t capacity)
{
    size_t hidden = memory->shape[2];
    s->self = arena_array(&s->memory, s->layers, sizeof *s->self);
    s->cross = arena_array(&s->memory, s->layers, sizeof *s->cross);
    s->saved = kv_room(&s->memory, room, capacity, hidden);
    s->memory_lens = lens ? arena_array(&s->memory, s->sentences, sizeof *lens) : NULL;
    bool ok = decoder_state_allocate_rows(s, room) && s->self && s->cross && s->saved && (!lens || s->memory_lens);
    if (ok && lens)
        memcpy(s->memory_lens, lens, s->sentences * sizeof *lens);
    for (size_t i = 0; ok && i < s->layers; i++)
        ok = kv_make(&s->self[i], &s->memory, room, capacity, hidden) &&
             kv_make(&s->cross[i], &s->memory, s->sentences, memory->shape[1], hidden);
    return ok;
}

/* The caches have room for more rows than there are. */
static void set_rows(rapt_decoder_state *s, size_t rows)
{
    s->rows = rows;
    for (size_t i = 0; i < s->layers; i++)
        s->self[i].k.shape[0] = s->self[i].v.shape[0] = rows;
}

static void share_out_one_each(rapt_decoder_state *s)
{
    for (size_t i = 0; i <= s->sentences; i++)
        s->first[i] = i;
    s->one_each = true;
    set_rows(s, s->sentences);
}

static void decoder_state_keep(rapt_tensor *cache, const rapt_tensor *x)
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
        decoder_state_keep(&s->cross[i].k, k);
        decoder_state_keep(&s->cross[i].v, v);
    }
    return RAPT_OK;
}

/* The encoder's memory of a whole batch, with padding: without it, rows are not where the cache has them. */
static rapt_code check_memory(const rapt_tape *t, const rapt_tensor *memory, rapt_error *err)
{
    char text[96];
    rapt_code code = rapt_tape_status(t, err);
    if (!code && memory->ndim != 3)
        code = rapt_fail(err, RAPT_ERR_SHAPE, "decoder: the memory %s%s is not [batch, time, feature]",
                         rapt_shape_text(memory, text, sizeof text), memory->ragged ? ", rows without padding," : "");
    return code;
}

static rapt_code decoder_state_fill(rapt_decoder_state *s, rapt_tape *t, const rapt_decoder *m, rapt_tensor *memory,
                                    rapt_error *err)
{
    share_out_one_each(s);
    return project_memory(t, m, s, memory, err);
}

rapt_decoder_state *rapt_decoder_state_new_beams(rapt_tape *t, const rapt_decoder *m, rapt_tensor *memory,
                                                 const int32_t *memory_lens, size_t beam, size_t capacity, rapt_error *err)
{
    size_t room;
    if (check_memory(t, memory, err))
        return NULL;
    rapt_decoder_state *s = __builtin_mul_overflow(memory->shape[0], beam ? beam : 1, &room) ? NULL : calloc(1, sizeof *s);
    if (s) {
        arena_init(&s->memory, CHUNK);
        s->layers = m->layers;
        s->sentences = memory->shape[0];
    }
    if (!s || !decoder_state_allocate(s, memory, memory_lens, room, capacity))
        rapt_fail(err, RAPT_ERR_MEMORY, "no memory to decode %zu sentences of %zu tokens", memory->shape[0], capacity);
    else if (decoder_state_fill(s, t, m, memory, err) == RAPT_OK)
        return s;
    rapt_decoder_state_free(s);
    return NULL;
}

rapt_decoder_state *rapt_decoder_state_new(rapt_tape *t, const rapt_decoder *m, rapt_tensor *memory,
                                           const int32_t *memory_lens, size_t capacity, rapt_error *err)
{
    return rapt_decoder_state_new_beams(t, m, memory, memory_lens, 1, capacity, err);
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

/* In place: a row that a later one still reads is saved before it is written over, and rows that stay cost nothing. */
static void move_rows(const rapt_decoder_state *s, rapt_tensor *x, const int32_t *parents, size_t rows)
{
    size_t row = x->shape[1] * x->shape[2], bytes = s->past * x->shape[2] * sizeof *x->data;
    for (size_t i = 0; i < rows; i++) {
        size_t from = (size_t)parents[i];
        if (from == i)
            continue;
        if (i < s->rows && s->last_reader[i] > i)
            memcpy(s->saved + i * row, x->data + i * row, bytes);
        bool gone = from < i && (size_t)parents[from] != from;
        memcpy(x->data + i * row, (gone ? s->saved : x->data) + from * row, bytes);
    }
}

static void move_all(const rapt_decoder_state *s, const int32_t *parents, size_t rows)
{
    memset(s->last_reader, 0, s->rows * sizeof *s->last_reader);
    for (size_t i = 0; i < rows; i++)
        s->last_reader[parents[i]] = i;
    for (size_t i = 0; i < s->layers; i++) {
        move_rows(s, &s->self[i].k, parents, rows);
        move_rows(s, &s->self[i].v, parents, rows);
    }
}

void rapt_decoder_state_reorder(rapt_decoder_state *s, const int32_t *parents)
{
    move_all(s, parents, s->rows);
}

/* Sentences keep their order, so that one walk finds the end of each among the new rows. */
static void share_out(rapt_decoder_state *s, const int32_t *parents, size_t rows)
{
    size_t row = 0, longest = 0;
    for (size_t i = 0; i < s->sentences; i++) {
        size_t end = s->first[i + 1], from = row;
        for (; row < rows && (size_t)parents[row] < end; row++)
            ;
        s->first[i] = from;
        longest = row - from > longest ? row - from : longest;
    }
    s->first[s->sentences] = row;
    s->one_each = false;
    s->shared = (rapt_ragged){s->sentences, longest, s->first};
}

void rapt_decoder_state_select(rapt_decoder_state *s, const int32_t *parents, size_t rows)
{
    move_all(s, parents, rows);
    share_out(s, parents, rows);
    set_rows(s, rows);
}

rapt_tensor *decoder_state_queries(rapt_decoder_state *s, const rapt_tensor *x)
{
    s->queries = *x;
    s->queries.ndim = 2;
    s->queries.shape[1] = x->shape[2];
    s->queries.ragged = &s->shared;
    return &s->queries;
}
