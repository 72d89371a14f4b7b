/* nn/kv_slots.c: the KV cache of several texts of different lengths. kv_cache.c is the cache of rows that grow together. */
#define _GNU_SOURCE
#include "nn/kv_slots.h"

#include "base/zero_pages.h"
#include "tensor/stored.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct kv_slots {
    rapt_kv_sizes sizes;
    size_t bytes;    /* bytes of a key or value */
    size_t matrix;   /* bytes of the keys, or values, of a layer */
    rapt_kv *layers; /* [sizes.layers] */
    size_t *past;    /* [sizes.rows] */
    size_t *touched; /* [sizes.rows] positions whose memory may be resident */
};

static size_t kv_slots_head(const rapt_kv_sizes *sizes)
{
    return sizes->head ? sizes->head : sizes->features;
}

/* Keys or values [slots, capacity, features]; in fp32 as the elements of x. */
static bool kv_slots_map(const kv_slots *c, rapt_tensor *x, uint8_t **stored)
{
    const rapt_kv_sizes *s = &c->sizes;
    void *data = zero_pages_map(c->matrix);
    *x = (rapt_tensor){.ndim = 3, .shape = {s->rows, s->capacity, s->features}, .name = "cache"};
    *stored = s->storage == RAPT_STORAGE_FP32 ? NULL : data;
    x->data = s->storage == RAPT_STORAGE_FP32 ? data : NULL;
    return data != NULL;
}

static bool kv_slots_allocate(kv_slots *c)
{
    const rapt_kv_sizes *s = &c->sizes;
    const size_t head = kv_slots_head(s);
    size_t all;
    c->bytes = s->features / head * stored_bytes(s->storage, head);
    c->layers = calloc(s->layers, sizeof *c->layers);
    c->past = calloc(s->rows, sizeof *c->past);
    c->touched = calloc(s->rows, sizeof *c->touched);
    bool ok = c->layers && c->past && c->touched && !__builtin_mul_overflow(s->rows, s->capacity, &all) &&
              !__builtin_mul_overflow(all, c->bytes, &c->matrix);
    for (size_t i = 0; i < s->layers && ok; i++) {
        rapt_kv *kv = &c->layers[i];
        kv->storage = s->storage;
        kv->head = head;
        ok = kv_slots_map(c, &kv->k, &kv->k_stored) && kv_slots_map(c, &kv->v, &kv->v_stored);
    }
    return ok;
}

kv_slots *kv_slots_new(rapt_kv_sizes sizes, rapt_error *err)
{
    kv_slots *c = calloc(1, sizeof *c);
    if (c) {
        c->sizes = sizes;
        if (kv_slots_allocate(c))
            return c;
    }
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a KV cache of %zu layers, %zu slots, %zu positions", sizes.layers,
              sizes.rows, sizes.capacity);
    kv_slots_free(c);
    return NULL;
}

/* Keys or values, in any numeric type. */
static uint8_t *kv_slots_data(const rapt_tensor *x, uint8_t *stored)
{
    return stored ? stored : (uint8_t *)x->data;
}

void kv_slots_free(kv_slots *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->layers && i < c->sizes.layers; i++) {
        zero_pages_unmap(kv_slots_data(&c->layers[i].k, c->layers[i].k_stored), c->matrix);
        zero_pages_unmap(kv_slots_data(&c->layers[i].v, c->layers[i].v_stored), c->matrix);
    }
    free(c->layers);
    free(c->past);
    free(c->touched);
    free(c);
}

rapt_kv *kv_slots_layers(kv_slots *c)
{
    return c->layers;
}

rapt_kv_sizes kv_slots_sizes(const kv_slots *c)
{
    return c->sizes;
}

size_t kv_slots_past(const kv_slots *c, size_t slot)
{
    return c->past[slot];
}

static void kv_slots_set_past(kv_slots *c, size_t slot, size_t past)
{
    c->past[slot] = past;
    c->touched[slot] = past > c->touched[slot] ? past : c->touched[slot];
}

void kv_slots_advance(kv_slots *c, size_t slot, size_t positions)
{
    kv_slots_set_past(c, slot, c->past[slot] + positions);
}

void kv_slots_truncate(kv_slots *c, size_t slot, size_t positions)
{
    c->past[slot] = positions < c->past[slot] ? positions : c->past[slot];
}

static void kv_slots_copy_matrix(const kv_slots *c, uint8_t *data, size_t from, size_t to, size_t positions)
{
    const size_t slot = c->sizes.capacity * c->bytes;
    memcpy(data + to * slot, data + from * slot, positions * c->bytes);
}

void kv_slots_copy(kv_slots *c, size_t from, size_t to, size_t positions)
{
    for (size_t i = 0; i < c->sizes.layers && from != to; i++) {
        kv_slots_copy_matrix(c, kv_slots_data(&c->layers[i].k, c->layers[i].k_stored), from, to, positions);
        kv_slots_copy_matrix(c, kv_slots_data(&c->layers[i].v, c->layers[i].v_stored), from, to, positions);
    }
    kv_slots_set_past(c, to, positions);
}

/* Only whole pages: the pages at the ends hold other positions too. */
static void kv_slots_give_back(const kv_slots *c, uint8_t *data, size_t slot, size_t positions)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), slot_bytes = c->sizes.capacity * c->bytes;
    const size_t first = (slot * slot_bytes + positions * c->bytes + page - 1) / page * page;
    const size_t end = (slot * slot_bytes + c->touched[slot] * c->bytes) / page * page;
    if (first < end)
        madvise(data + first, end - first, MADV_DONTNEED);
}

void kv_slots_trim(kv_slots *c, size_t slot, size_t positions)
{
    kv_slots_truncate(c, slot, positions);
    if (c->touched[slot] <= positions)
        return;
    for (size_t i = 0; i < c->sizes.layers; i++) {
        kv_slots_give_back(c, kv_slots_data(&c->layers[i].k, c->layers[i].k_stored), slot, positions);
        kv_slots_give_back(c, kv_slots_data(&c->layers[i].v, c->layers[i].v_stored), slot, positions);
    }
    c->touched[slot] = positions;
}
