/* text/bpe/token_list.c: a vocabulary of byte strings, and their counts. All bytes are in one block: there is no allocation for a
 * token, and comparing reads only this block, not pages all over a mapped text. A map of pairs of ids is in pair_table.h. */
#include "text/bpe/token_list.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 1024 };

void token_list_free(token_list *l)
{
    free(l->spans);
    free(l->bytes);
    free(l->slots);
    *l = (token_list){0};
}

const char *token_list_at(const token_list *l, int64_t id, size_t *length)
{
    if (id < 0 || (uint64_t)id >= l->size || l->spans[id].length < 0)
        return NULL;
    if (length)
        *length = (size_t)l->spans[id].length;
    return l->bytes + l->spans[id].at;
}

static bool token_list_equal(const token_list *l, uint32_t id, const char *token, size_t length)
{
    token_span span = l->spans[id];
    return (size_t)span.length == length && memcmp(l->bytes + span.at, token, length) == 0;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* The slot that holds the token, or the empty slot where it belongs. */
static token_key *token_list_slot_of(const token_list *l, uint64_t hash, const char *token, size_t length)
{
    size_t mask = l->slot_count - 1, i = hash & mask;
    uint32_t tag = tag_of(hash);
    while (l->slots[i].id && !(l->slots[i].tag == tag && token_list_equal(l, l->slots[i].id - 1, token, length)))
        i = (i + 1) & mask;
    return &l->slots[i];
}

int32_t token_list_find(const token_list *l, const char *token, size_t length)
{
    return l->slot_count ? (int32_t)token_list_slot_of(l, XXH3_64bits(token, length), token, length)->id - 1 : -1;
}

uint64_t token_list_fetch(const token_list *l, const char *token, size_t length)
{
    uint64_t hash = XXH3_64bits(token, length);
    __builtin_prefetch(&l->slots[hash & (l->slot_count - 1)]);
    return hash;
}

int32_t token_list_find_fetched(const token_list *l, uint64_t fetched, const char *token, size_t length)
{
    return (int32_t)token_list_slot_of(l, fetched, token, length)->id - 1;
}

/* Enough slots for `count` tokens; tags hold half of the hash only, so that all of it is recomputed. */
static bool grow_slots(token_list *l, size_t count)
{
    token_list wider = *l;
    wider.slot_count = l->slot_count ? l->slot_count : FIRST_SLOTS;
    while (wider.slot_count < 2 * count)
        wider.slot_count *= 2;
    if (wider.slot_count == l->slot_count)
        return true;
    wider.slots = calloc(wider.slot_count, sizeof *wider.slots);
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < l->slot_count; i++) {
        if (l->slots[i].id) {
            token_span span = l->spans[l->slots[i].id - 1];
            const char *token = l->bytes + span.at;
            *token_list_slot_of(&wider, XXH3_64bits(token, (size_t)span.length), token, (size_t)span.length) = l->slots[i];
        }
    }
    free(l->slots);
    *l = wider;
    return true;
}

bool token_list_reserve(token_list *l, size_t count, size_t bytes)
{
    return count <= SIZE_MAX / 4 && bytes <= SIZE_MAX / 2 - count && ARRAY_RESERVE(&l->spans, &l->capacity, count) &&
           ARRAY_RESERVE(&l->bytes, &l->bytes_capacity, bytes + count) && grow_slots(l, count);
}

static bool put_hashed(token_list *l, size_t id, uint64_t hash, const char *token, size_t length, bool findable)
{
    if (!ARRAY_RESERVE(&l->spans, &l->capacity, id + 1) || !ARRAY_RESERVE(&l->bytes, &l->bytes_capacity, l->used + length + 1))
        return false;
    if (findable && 2 * (l->found + 1) > l->slot_count && !grow_slots(l, l->found + 1))
        return false;
    for (; l->size <= id; l->size++)
        l->spans[l->size] = (token_span){0, -1};
    l->spans[id] = (token_span){l->used, (int64_t)length};
    memcpy(l->bytes + l->used, token, length);
    l->bytes[l->used + length] = '\0';
    l->used += length + 1;
    if (findable) {
        *token_list_slot_of(l, hash, token, length) = (token_key){tag_of(hash), (uint32_t)id + 1};
        l->found++;
    }
    return true;
}

bool token_list_put(token_list *l, size_t id, const char *token, size_t length, bool findable)
{
    return put_hashed(l, id, XXH3_64bits(token, length), token, length, findable);
}

int32_t token_list_add(token_list *l, const char *token, size_t length)
{
    const uint64_t hash = XXH3_64bits(token, length);
    const uint32_t id = l->slot_count ? token_list_slot_of(l, hash, token, length)->id : 0;
    if (id)
        return (int32_t)id - 1;
    return l->size < INT32_MAX && put_hashed(l, l->size, hash, token, length, true) ? (int32_t)l->size - 1 : -1;
}

void token_counts_free(token_counts *c)
{
    token_list_free(&c->tokens);
    free(c->counts);
    *c = (token_counts){0};
}

bool token_counts_add(token_counts *c, const char *token, size_t length, int64_t times)
{
    const size_t size = c->tokens.size;
    if (!ARRAY_RESERVE(&c->counts, &c->capacity, size + 1))
        return false;
    const int32_t id = token_list_add(&c->tokens, token, length);
    if (id < 0)
        return false;
    c->counts[id] = ((size_t)id < size ? c->counts[id] : 0) + times;
    return true;
}
