/* nn/kv_cache.c: the KV cache: keys and values of the positions that a decoder has computed, kept between decoding steps. For
 * both kinds of model; attention.c attends to them. */
#include "nn/kv_cache.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

typedef struct row_copy {
    size_t from, to; /* rows; sizes.rows is the scratch row */
} row_copy;

struct rapt_kv_cache {
    arena memory;
    rapt_kv_sizes sizes;
    size_t rows, first, past; /* in use; tokens of each text before position 0; positions */
    rapt_kv *layers;    /* [sizes.layers] */
    rapt_real *scratch; /* [capacity, features]: a scratch row for cycles of copies */
    size_t *readers;    /* [sizes.rows]: rows of a selection that are still to be copied from this one */
    row_copy *copies;   /* [3/2 sizes.rows + 1] */
};

/* ---- memory ------------------------------------------------------------------------------------------------- */

static bool kv_cache_make_tensor(arena *memory, rapt_tensor *x, rapt_kv_sizes sizes)
{
    size_t positions;
    *x = (rapt_tensor){.ndim = 3, .shape = {sizes.rows, sizes.capacity, sizes.features}, .name = "cache"};
    if (__builtin_mul_overflow(sizes.rows, sizes.capacity, &positions))
        return false;
    x->data = arena_array(memory, positions, sizes.features * sizeof *x->data);
    return x->data != NULL;
}

static bool kv_cache_allocate(rapt_kv_cache *c, rapt_kv_sizes sizes)
{
    c->layers = arena_array(&c->memory, sizes.layers, sizeof *c->layers);
    bool ok = c->layers != NULL;
    for (size_t i = 0; ok && i < sizes.layers; i++)
        ok = kv_cache_make_tensor(&c->memory, &c->layers[i].k, sizes) && kv_cache_make_tensor(&c->memory, &c->layers[i].v, sizes);
    c->scratch = ok ? arena_array(&c->memory, sizes.capacity, sizes.features * sizeof *c->scratch) : NULL;
    c->readers = ok ? arena_array(&c->memory, sizes.rows, sizeof *c->readers) : NULL;
    c->copies = ok ? arena_array(&c->memory, sizes.rows + sizes.rows / 2 + 1, sizeof *c->copies) : NULL;
    return c->scratch && c->readers && c->copies;
}

rapt_code rapt_kv_cache_resize(rapt_kv_cache *c, rapt_kv_sizes sizes, rapt_error *err)
{
    arena_release(&c->memory, (arena_mark){0});
    bool ok = kv_cache_allocate(c, sizes);
    c->sizes = ok ? sizes : (rapt_kv_sizes){0};
    rapt_kv_cache_clear(c, c->sizes.rows);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a KV cache of %zu layers, %zu rows, %zu positions",
                                    sizes.layers, sizes.rows, sizes.capacity);
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
    arena_free(&c->memory);
    free(c);
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

void rapt_kv_cache_advance(rapt_kv_cache *c, size_t positions)
{
    c->past += positions;
}

size_t rapt_kv_cache_first(const rapt_kv_cache *c)
{
    return c->first;
}

void rapt_kv_cache_truncate(rapt_kv_cache *c, size_t tokens)
{
    size_t past = tokens > c->first ? tokens - c->first : 0;
    c->past = past < c->past ? past : c->past;
}

void kv_cache_move(rapt_kv_cache *c, size_t first)
{
    c->first = first;
    c->past = 0;
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
    kv_cache_move(c, 0);
    kv_cache_set_rows(c, rows);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

#define COPIED SIZE_MAX /* in place of a count of readers */

/* Writes to c->copies an order in which no row is overwritten before its last reader has copied it; returns their number. */
static size_t kv_cache_plan_copies(rapt_kv_cache *c, const int32_t *parents, size_t rows)
{
    size_t count = 0;
    memset(c->readers, 0, c->sizes.rows * sizeof *c->readers);
    for (size_t i = 0; i < rows; i++)
        c->readers[parents[i]] += (size_t)parents[i] != i;
    /* 1. Rows without readers are overwritten first. A copy may leave its parent without readers, which is then next. */
    for (size_t i = 0; i < rows; i++)
        for (size_t to = i, from; to < rows && c->readers[to] == 0 && (from = (size_t)parents[to]) != to; to = from) {
            c->copies[count++] = (row_copy){from, to};
            c->readers[to] = COPIED;
            c->readers[from]--;
        }
    /* 2. The remaining rows form cycles, each row with one reader. They are rotated through the scratch row. */
    for (size_t i = 0; i < rows; i++) {
        if ((size_t)parents[i] == i || c->readers[i] == COPIED)
            continue;
        c->copies[count++] = (row_copy){i, c->sizes.rows};
        for (size_t to = i, from; c->readers[to] != COPIED; to = from) {
            from = (size_t)parents[to];
            c->copies[count++] = (row_copy){from == i ? c->sizes.rows : from, to};
            c->readers[to] = COPIED;
        }
    }
    return count;
}

static void kv_cache_copy_rows(rapt_kv_cache *c, rapt_tensor *x, size_t count)
{
    size_t row = x->shape[1] * x->shape[2], bytes = c->past * x->shape[2] * sizeof *x->data;
    for (size_t i = 0; i < count; i++) {
        row_copy copy = c->copies[i];
        const rapt_real *from = copy.from == c->sizes.rows ? c->scratch : x->data + copy.from * row;
        memcpy(copy.to == c->sizes.rows ? c->scratch : x->data + copy.to * row, from, bytes);
    }
}

void rapt_kv_cache_select(rapt_kv_cache *c, const int32_t *parents, size_t rows)
{
    size_t count = kv_cache_plan_copies(c, parents, rows);
    for (size_t i = 0; i < c->sizes.layers && c->past > 0; i++) {
        kv_cache_copy_rows(c, &c->layers[i].k, count);
        kv_cache_copy_rows(c, &c->layers[i].v, count);
    }
    kv_cache_set_rows(c, rows);
}
