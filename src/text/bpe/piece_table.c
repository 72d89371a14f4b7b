/* text/bpe/piece_table.c: a hash table that copies each distinct piece once, into one block: there is no allocation for a piece,
 * and comparing reads only this block, not pages all over a mapped text. For piece_counts.c; not a general map. */
#include "text/bpe/piece_table.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MIN_SLOTS = 1024 };

void piece_table_free(piece_table *t)
{
    free(t->slots);
    free(t->bytes);
    *t = (piece_table){0};
}

static size_t free_slot(const piece *slots, size_t slot_count, uint64_t hash)
{
    size_t i = hash & (slot_count - 1);
    while (slots[i].length)
        i = (i + 1) & (slot_count - 1);
    return i;
}

static bool piece_table_grow(piece_table *t)
{
    size_t slot_count = t->slot_count ? 2 * t->slot_count : MIN_SLOTS;
    piece *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].length)
            slots[free_slot(slots, slot_count, t->slots[i].hash)] = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    return true;
}

static piece *piece_table_find(const piece_table *t, uint64_t hash, const char *text, size_t length)
{
    for (size_t i = hash & (t->slot_count - 1); t->slot_count && t->slots[i].length; i = (i + 1) & (t->slot_count - 1)) {
        piece *p = &t->slots[i];
        if (p->hash == hash && p->length == length && memcmp(t->bytes + p->start, text, length) == 0)
            return p;
    }
    return NULL;
}

static bool add_hashed(piece_table *t, uint64_t hash, const char *text, size_t length, int64_t times)
{
    piece *p = piece_table_find(t, hash, text, length);
    if (p) {
        p->count += times;
        return true;
    }
    if (2 * (t->used + 1) > t->slot_count && !piece_table_grow(t))
        return false;
    if (!ARRAY_RESERVE(&t->bytes, &t->capacity, t->size + length))
        return false;
    memcpy(t->bytes + t->size, text, length);
    t->slots[free_slot(t->slots, t->slot_count, hash)] = (piece){hash, times, t->size, length};
    t->size += length;
    t->used++;
    return true;
}

bool piece_table_add(piece_table *t, const char *text, size_t length, int64_t times)
{
    return add_hashed(t, XXH3_64bits(text, length), text, length, times);
}

bool piece_table_add_all(piece_table *t, const piece_table *other)
{
    for (size_t i = 0; i < other->slot_count; i++) {
        const piece *p = &other->slots[i];
        if (p->length && !add_hashed(t, p->hash, other->bytes + p->start, p->length, p->count))
            return false;
    }
    return true;
}
