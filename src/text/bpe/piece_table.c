/* text/bpe/piece_table.c: a hash table that copies each distinct piece once, into one block: no allocation a piece, and
 * comparing touches this block only, not pages all over a mapped text. For piece_counts.c; not a general map. */
#include "text/bpe/piece_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SMALLEST_ROOM = 1024, SMALLEST_BLOCK = 16384 };

void piece_table_free(piece_table *t)
{
    free(t->slots);
    free(t->bytes);
    *t = (piece_table){0};
}

static size_t free_slot(const piece *slots, size_t room, uint64_t hash)
{
    size_t i = hash & (room - 1);
    while (slots[i].length)
        i = (i + 1) & (room - 1);
    return i;
}

static bool piece_table_grow(piece_table *t)
{
    size_t room = t->room ? 2 * t->room : SMALLEST_ROOM;
    piece *slots = calloc(room, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].length)
            slots[free_slot(slots, room, t->slots[i].hash)] = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->room = room;
    return true;
}

static bool piece_table_make_room(piece_table *t, size_t length)
{
    if (2 * (t->used + 1) > t->room && !piece_table_grow(t))
        return false;
    if (t->capacity - t->size >= length)
        return true;
    size_t capacity = t->capacity ? t->capacity : SMALLEST_BLOCK;
    while (capacity - t->size < length)
        capacity *= 2;
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes)
        return false;
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

static piece *piece_table_find(const piece_table *t, uint64_t hash, const char *text, size_t length)
{
    for (size_t i = hash & (t->room - 1); t->room && t->slots[i].length; i = (i + 1) & (t->room - 1)) {
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
    if (!piece_table_make_room(t, length))
        return false;
    memcpy(t->bytes + t->size, text, length);
    t->slots[free_slot(t->slots, t->room, hash)] = (piece){hash, times, t->size, length};
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
    for (size_t i = 0; i < other->room; i++) {
        const piece *p = &other->slots[i];
        if (p->length && !add_hashed(t, p->hash, other->bytes + p->start, p->length, p->count))
            return false;
    }
    return true;
}
