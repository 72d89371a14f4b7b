/* nn/kv_cache.c: the KV cache: keys and values of the positions that a decoder has computed, kept between decoding steps, in rows
 * that each have a length. For both kinds of model; attention.c attends to them. Memory is of two kinds: huge pages that grow by
 * copying, for rows that fill what they have; or small pages for the whole capacity (rapt_kv_sizes.sparse). Attention reads
 * several per cent slower from small pages, and huge ones would make rows resident that are mostly empty. */
#include "nn/kv_cache.h"

#include "base/arena.h"
#include "base/min.h"
#include "base/pages.h"
#include "tape/tape_core.h"
#include "tensor/stored.h"
#include "tensor/type.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10) /* a translation has two caches; still so much that untouched pages stay the system's */
#define FIRST_POSITIONS 256 /* positions that a growing cache has at first, or after it has grown once */
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define SCRATCH ((size_t)16 << 10) /* bytes of a row that are copied at a time: two rows fit into an L1 cache */

typedef struct row_copy {
    size_t from, to;  /* rows; sizes.rows is the scratch memory */
    size_t positions; /* that the row which is copied holds */
} row_copy;

struct rapt_kv_cache {
    arena memory;
    rapt_kv_sizes sizes;
    size_t rows, first, past; /* in use; tokens of each text before position 0; positions of the longest row */
    size_t positions;   /* that every row of every layer has room for */
    size_t bytes;       /* bytes of a key or value */
    rapt_kv *layers;    /* [sizes.layers] */
    size_t *held;       /* [sizes.rows]: positions of each row */
    size_t *touched;    /* [sizes.rows]: positions whose memory may be resident */
    arena *grown;       /* [sizes.layers]: memory of each layer that has grown */
    uint8_t *scratch;   /* [SCRATCH]: for cycles of copies */
    size_t *readers;    /* [sizes.rows]: rows of a selection that are still to be copied from this one */
    row_copy *copies;   /* [3/2 sizes.rows + 1] */
};

/* ---- memory ------------------------------------------------------------------------------------------------- */

static size_t kv_cache_head(const rapt_kv_sizes *sizes)
{
    return sizes->head ? sizes->head : sizes->features;
}

/* The bytes of a key or value. */
static size_t kv_cache_bytes(const rapt_kv_sizes *sizes)
{
    const size_t head = kv_cache_head(sizes);
    return head > 0 ? sizes->features / head * stored_bytes(sizes->storage, head) : 0;
}

size_t rapt_kv_position_bytes(const rapt_kv_sizes *sizes)
{
    size_t all;
    return __builtin_mul_overflow(2 * sizes->layers, kv_cache_bytes(sizes), &all) ? SIZE_MAX : all;
}

/* The bytes of the keys, or values, of a layer; there is a page even for none. */
static size_t kv_cache_page_bytes(const rapt_kv_cache *c)
{
    const size_t bytes = c->sizes.rows * c->positions * c->bytes;
    return bytes ? bytes : 1;
}

/* Keys or values, in fp32 as the elements of x. */
static bool kv_cache_make_rows(arena *memory, const rapt_kv_cache *c, size_t positions, rapt_tensor *x, uint8_t **stored)
{
    *x = (rapt_tensor){.ndim = 3, .shape = {c->sizes.rows, positions, c->sizes.features}, .name = "cache"};
    *stored = NULL;
    void *data = c->sizes.sparse ? pages_map(kv_cache_page_bytes(c))
                                 : arena_array(memory, c->sizes.rows * positions, c->bytes);
    if (c->sizes.storage == RAPT_TYPE_FP32)
        x->data = data;
    else
        *stored = data;
    return data != NULL;
}

static bool kv_cache_make_layer(arena *memory, const rapt_kv_cache *c, size_t positions, rapt_kv *kv)
{
    *kv = (rapt_kv){.storage = c->sizes.storage, .head = kv_cache_head(&c->sizes)};
    return kv_cache_make_rows(memory, c, positions, &kv->k, &kv->k_stored) &&
           kv_cache_make_rows(memory, c, positions, &kv->v, &kv->v_stored);
}

/* Keys or values [rows, positions, bytes], in any numeric type. */
static uint8_t *kv_cache_data(const rapt_tensor *x, uint8_t *stored)
{
    return stored ? stored : (uint8_t *)x->data;
}

/* Translators keep two small caches for each sentence, so all arrays that are touched lie together: the small ones, then keys and
 * values, of which the last may stay empty, then the scratch memory, which is seldom used. */
static bool kv_cache_allocate(rapt_kv_cache *c)
{
    arena *a = &c->memory;
    const rapt_kv_sizes sizes = c->sizes;
    c->layers = arena_zeroed(a, sizes.layers, sizeof *c->layers);
    c->held = arena_zeroed(a, sizes.rows, sizeof *c->held);
    c->touched = arena_zeroed(a, sizes.rows, sizeof *c->touched);
    c->readers = arena_array(a, sizes.rows, sizeof *c->readers);
    c->copies = arena_array(a, sizes.rows + sizes.rows / 2 + 1, sizeof *c->copies);
    c->grown = arena_zeroed(a, sizes.layers, sizeof *c->grown);
    bool ok = c->layers && c->held && c->touched && c->readers && c->copies && c->grown;
    for (size_t i = 0; ok && i < sizes.layers; i++)
        ok = kv_cache_make_layer(a, c, c->positions, &c->layers[i]);
    c->scratch = ok ? arena_alloc(a, SCRATCH) : NULL;
    return c->scratch != NULL;
}

/* Leaves a cache of size 0. The arena keeps its memory for other sizes. */
static void kv_cache_release(rapt_kv_cache *c)
{
    for (size_t i = 0; c->layers && c->sizes.sparse && i < c->sizes.layers; i++) {
        pages_unmap(kv_cache_data(&c->layers[i].k, c->layers[i].k_stored), kv_cache_page_bytes(c));
        pages_unmap(kv_cache_data(&c->layers[i].v, c->layers[i].v_stored), kv_cache_page_bytes(c));
    }
    for (size_t i = 0; c->grown && i < c->sizes.layers; i++)
        arena_free(&c->grown[i]);
    c->layers = NULL;
    c->grown = NULL;
    c->sizes = (rapt_kv_sizes){0};
    arena_release(&c->memory, (arena_mark){0});
}

/* Whether the size of a full layer fits into size_t, so that a cache that could never grow to its capacity is refused at once. */
static bool kv_cache_can_be_full(rapt_kv_sizes sizes)
{
    size_t all;
    return !__builtin_mul_overflow(sizes.rows, sizes.capacity, &all) &&
           !__builtin_mul_overflow(all, kv_cache_bytes(&sizes), &all);
}

static rapt_code kv_cache_check(const rapt_kv_sizes *sizes, rapt_error *err)
{
    if (type_check_kv(sizes->storage, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if (sizes->head > 0 && sizes->features % sizes->head != 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "a KV cache of %zu features, which heads of %zu do not divide", sizes->features,
                         sizes->head);
    return RAPT_OK;
}

rapt_code kv_cache_resize_first(rapt_kv_cache *c, rapt_kv_sizes sizes, size_t first, rapt_error *err)
{
    rapt_code code = kv_cache_check(&sizes, err);
    kv_cache_release(c);
    c->sizes = sizes;
    c->positions = sizes.grows && !sizes.sparse ? MIN(sizes.capacity, first) : sizes.capacity;
    c->bytes = code ? 0 : kv_cache_bytes(&sizes);
    if (!code && !(kv_cache_can_be_full(sizes) && kv_cache_allocate(c)))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a KV cache of %zu layers, %zu rows, %zu positions",
                         sizes.layers, sizes.rows, sizes.capacity);
    if (code)
        kv_cache_release(c);
    rapt_kv_cache_clear(c, c->sizes.rows);
    return code;
}

rapt_code rapt_kv_cache_resize(rapt_kv_cache *c, rapt_kv_sizes sizes, rapt_error *err)
{
    return kv_cache_resize_first(c, sizes, FIRST_POSITIONS, err);
}

rapt_kv_cache *rapt_kv_cache_new(rapt_kv_sizes sizes, rapt_error *err)
{
    rapt_kv_cache *c = calloc(1, sizeof *c);
    if (!c) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a KV cache");
        return NULL;
    }
    arena_init(&c->memory, CHUNK);
    if (rapt_kv_cache_resize(c, sizes, err) == RAPT_OK)
        return c;
    rapt_kv_cache_free(c);
    return NULL;
}

void rapt_kv_cache_free(rapt_kv_cache *c)
{
    if (!c)
        return;
    kv_cache_release(c);
    arena_free(&c->memory);
    free(c);
}

/* ---- growth ------------------------------------------------------------------------------------------------- */

/* Copies the held positions from rows of `held` positions to rows of `positions`. */
static void kv_cache_copy_held(const rapt_kv_cache *c, const uint8_t *from, size_t held, uint8_t *to, size_t positions)
{
    for (size_t i = 0; i < c->rows && c->past > 0; i++)
        memcpy(to + i * positions * c->bytes, from + i * held * c->bytes, c->held[i] * c->bytes);
}

/* Gives the pages of a layer's first memory back, which stays reserved in the arena of all layers until the cache is resized. */
static void kv_cache_give_back_first(const rapt_kv_cache *c, const rapt_kv *kv)
{
    const size_t bytes = c->sizes.rows * kv->k.shape[1] * c->bytes;
    pages_release(kv_cache_data(&kv->k, kv->k_stored), 0, bytes);
    pages_release(kv_cache_data(&kv->v, kv->v_stored), 0, bytes);
}

/* Grows one layer at a time, so that the old and new memory of only one layer exist together. After a failure some layers have
 * grown and others have not. */
static bool kv_cache_grow_layer(rapt_kv_cache *c, size_t layer, size_t positions)
{
    arena memory;
    rapt_kv larger, *kv = &c->layers[layer];
    arena_init(&memory, 0);
    if (!kv_cache_make_layer(&memory, c, positions, &larger)) {
        arena_free(&memory);
        return false;
    }
    const size_t held = kv->k.shape[1];
    kv_cache_copy_held(c, kv_cache_data(&kv->k, kv->k_stored), held, kv_cache_data(&larger.k, larger.k_stored), positions);
    kv_cache_copy_held(c, kv_cache_data(&kv->v, kv->v_stored), held, kv_cache_data(&larger.v, larger.v_stored), positions);
    larger.k.shape[0] = larger.v.shape[0] = c->rows;
    if (!c->grown[layer].first)
        kv_cache_give_back_first(c, kv);
    arena_free(&c->grown[layer]);
    c->grown[layer] = memory;
    *kv = larger;
    return true;
}

rapt_code rapt_kv_cache_reserve(rapt_kv_cache *c, size_t positions, rapt_error *err)
{
    if (positions <= c->positions)
        return RAPT_OK;
    if (positions > c->sizes.capacity)
        return rapt_fail(err, RAPT_ERR_SHAPE, "%zu positions for a KV cache of %zu", positions, c->sizes.capacity);
    const size_t more = MAX(c->positions + c->positions / 2, FIRST_POSITIONS);
    const size_t larger = MIN(MAX(positions, more), c->sizes.capacity);
    bool ok = true;
    for (size_t i = 0; i < c->sizes.layers && ok; i++)
        ok = kv_cache_grow_layer(c, i, larger);
    if (!ok)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a KV cache of %zu layers, %zu rows, %zu positions",
                         c->sizes.layers, c->sizes.rows, larger);
    c->positions = larger;
    return RAPT_OK;
}

/* ---- positions ---------------------------------------------------------------------------------------------- */

rapt_kv_sizes rapt_kv_cache_sizes(const rapt_kv_cache *c)
{
    return c->sizes;
}

size_t rapt_kv_cache_rows(const rapt_kv_cache *c)
{
    return c->rows;
}

size_t rapt_kv_cache_past(const rapt_kv_cache *c)
{
    return c->past;
}

rapt_kv *rapt_kv_cache_layer(rapt_kv_cache *c, size_t layer)
{
    return &c->layers[layer];
}

/* Copies x [rows, time, features] to positions past .. past + time - 1 of the rows of `data`, or to the rows and positions in
 * kv->cached. If x is ragged, each row fills as many positions as it has. */
static void kv_cache_put(const kernels *k, const rapt_kv *kv, const rapt_tensor *x, size_t past, size_t positions, uint8_t *data)
{
    const size_t features = rapt_tensor_features(x), head = kv->storage == RAPT_TYPE_FP32 ? features : kv->head;
    const size_t heads = features / head, bytes = heads * stored_bytes(kv->storage, head);
    for (size_t b = 0; b < tape_examples(x); b++) {
        const tape_rows r = tape_rows_of(x, b);
        const rapt_cached_row at = kv->cached ? kv->cached[b] : (rapt_cached_row){b, past};
        stored_write(k, kv->storage, r.count * heads, head, x->data + r.first * features,
                     data + (at.row * positions + at.past) * bytes);
    }
}

void kv_cache_append(const kernels *k, rapt_kv *kv, const rapt_tensor *keys, const rapt_tensor *values, size_t past)
{
    kv_cache_put(k, kv, keys, past, kv->k.shape[1], kv_cache_data(&kv->k, kv->k_stored));
    kv_cache_put(k, kv, values, past, kv->v.shape[1], kv_cache_data(&kv->v, kv->v_stored));
}

size_t rapt_kv_cache_first(const rapt_kv_cache *c)
{
    return c->first;
}

/* Sets the positions of rows that have been written up to there. */
static void kv_cache_set_held(rapt_kv_cache *c, size_t row, size_t positions)
{
    c->held[row] = positions;
    c->touched[row] = MAX(c->touched[row], positions);
    c->past = MAX(c->past, positions);
}

void kv_cache_row_touch(rapt_kv_cache *c, size_t row, size_t positions)
{
    c->touched[row] = MAX(c->touched[row], positions);
}

void rapt_kv_cache_advance(rapt_kv_cache *c, size_t positions)
{
    for (size_t i = 0; i < c->rows; i++)
        kv_cache_set_held(c, i, c->held[i] + positions);
}

static void kv_cache_find_longest(rapt_kv_cache *c)
{
    c->past = 0;
    for (size_t i = 0; i < c->rows; i++)
        c->past = MAX(c->past, c->held[i]);
}

void rapt_kv_cache_truncate(rapt_kv_cache *c, size_t tokens)
{
    const size_t past = tokens > c->first ? tokens - c->first : 0;
    for (size_t i = 0; i < c->rows; i++)
        c->held[i] = MIN(c->held[i], past);
    c->past = MIN(c->past, past);
}

void kv_cache_move(rapt_kv_cache *c, size_t first)
{
    rapt_kv_cache_truncate(c, 0);
    c->first = first;
}

/* Tensors have the shape of the rows in use, and memory for sizes.rows. */
static void kv_cache_set_rows(rapt_kv_cache *c, size_t rows)
{
    c->rows = rows;
    for (size_t i = 0; i < c->sizes.layers; i++)
        c->layers[i].k.shape[0] = c->layers[i].v.shape[0] = rows;
}

void rapt_kv_cache_clear(rapt_kv_cache *c, size_t rows)
{
    kv_cache_set_rows(c, rows);
    kv_cache_move(c, 0);
}

/* ---- one row ------------------------------------------------------------------------------------------------ */

size_t kv_cache_row_past(const rapt_kv_cache *c, size_t row)
{
    return c->held[row];
}

void kv_cache_row_advance(rapt_kv_cache *c, size_t row, size_t positions)
{
    kv_cache_set_held(c, row, c->held[row] + positions);
}

void kv_cache_row_truncate(rapt_kv_cache *c, size_t row, size_t positions)
{
    c->held[row] = MIN(c->held[row], positions);
    kv_cache_find_longest(c);
}

void kv_cache_row_trim(rapt_kv_cache *c, size_t row, size_t positions)
{
    const size_t from = (row * c->positions + positions) * c->bytes, end = (row * c->positions + c->touched[row]) * c->bytes;
    kv_cache_row_truncate(c, row, positions);
    if (!c->sizes.sparse || c->touched[row] <= positions)
        return;
    for (size_t i = 0; i < c->sizes.layers; i++) {
        pages_release(kv_cache_data(&c->layers[i].k, c->layers[i].k_stored), from, end);
        pages_release(kv_cache_data(&c->layers[i].v, c->layers[i].v_stored), from, end);
    }
    c->touched[row] = positions;
}

static void kv_cache_copy_matrix(const rapt_kv_cache *c, uint8_t *data, size_t held, size_t from, size_t to, size_t positions)
{
    memcpy(data + to * held * c->bytes, data + from * held * c->bytes, positions * c->bytes);
}

void kv_cache_row_copy(rapt_kv_cache *c, size_t from, size_t to, size_t positions)
{
    for (size_t i = 0; i < c->sizes.layers && from != to; i++) {
        const rapt_kv *kv = &c->layers[i];
        kv_cache_copy_matrix(c, kv_cache_data(&kv->k, kv->k_stored), kv->k.shape[1], from, to, positions);
        kv_cache_copy_matrix(c, kv_cache_data(&kv->v, kv->v_stored), kv->v.shape[1], from, to, positions);
    }
    kv_cache_set_held(c, to, positions);
    kv_cache_find_longest(c);
}

/* ---- selected rows ------------------------------------------------------------------------------------------ */

#define COPIED SIZE_MAX /* in place of a count of readers */

/* Writes to c->copies an order in which no row is overwritten before its last reader has copied it; returns their number. */
static size_t kv_cache_plan_copies(rapt_kv_cache *c, const int32_t *parents, size_t rows)
{
    size_t count = 0;
    memset(c->readers, 0, c->sizes.rows * sizeof *c->readers);
    for (size_t i = 0; i < rows; i++)
        c->readers[parents[i]] += (size_t)parents[i] != i;
    /* 1. Rows without readers are overwritten first. A copy may leave its parent without readers; then the parent is next. */
    for (size_t i = 0; i < rows; i++)
        for (size_t to = i, from; to < rows && c->readers[to] == 0 && (from = (size_t)parents[to]) != to; to = from) {
            c->copies[count++] = (row_copy){from, to, c->held[from]};
            c->readers[to] = COPIED;
            c->readers[from]--;
        }
    /* 2. The remaining rows form cycles, each row with one reader. They are rotated through the scratch memory. */
    for (size_t i = 0; i < rows; i++) {
        if ((size_t)parents[i] == i || c->readers[i] == COPIED)
            continue;
        c->copies[count++] = (row_copy){i, c->sizes.rows, c->held[i]};
        for (size_t to = i, from; c->readers[to] != COPIED; to = from) {
            from = (size_t)parents[to];
            c->copies[count++] = (row_copy){from == i ? c->sizes.rows : from, to, c->held[from]};
            c->readers[to] = COPIED;
        }
    }
    return count;
}

/* All copies of one stretch of the rows after the other, so that the scratch memory need not hold a row. */
static void kv_cache_copy_rows(rapt_kv_cache *c, uint8_t *data, size_t positions, size_t count)
{
    const size_t row = positions * c->bytes, longest = c->past * c->bytes;
    for (size_t at = 0; at < longest; at += SCRATCH)
        for (size_t i = 0; i < count; i++) {
            const row_copy *copy = &c->copies[i];
            const size_t bytes = copy->positions * c->bytes;
            const uint8_t *from = copy->from == c->sizes.rows ? c->scratch : data + copy->from * row + at;
            if (at < bytes)
                memcpy(copy->to == c->sizes.rows ? c->scratch : data + copy->to * row + at, from, MIN(bytes - at, SCRATCH));
        }
}

void rapt_kv_cache_select(rapt_kv_cache *c, const int32_t *parents, size_t rows)
{
    size_t count = kv_cache_plan_copies(c, parents, rows);
    for (size_t i = 0; i < c->sizes.layers && c->past > 0; i++) {
        const rapt_kv *kv = &c->layers[i];
        kv_cache_copy_rows(c, kv_cache_data(&kv->k, kv->k_stored), kv->k.shape[1], count);
        kv_cache_copy_rows(c, kv_cache_data(&kv->v, kv->v_stored), kv->v.shape[1], count);
    }
    for (size_t i = 0; i < count; i++)
        if (c->copies[i].to < c->sizes.rows)
            kv_cache_set_held(c, c->copies[i].to, c->copies[i].positions);
    kv_cache_set_rows(c, rows);
    kv_cache_find_longest(c);
}
