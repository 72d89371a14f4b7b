/* text/bpe/pair_table.h: which pairs of tokens merge, into which token, and in which order. For BPE of bytes and of characters,
 * and for text/pieces/piece_trie.h, whose pairs are a node and a byte. */
#ifndef TEXT_BPE_PAIR_TABLE_H
#define TEXT_BPE_PAIR_TABLE_H

#include "rapt/base.h"

#define PAIR_NEVER UINT32_MAX
#define PAIR_RANKS (1 << 24) /* merges have ranks below */

typedef struct pair_merge {
    uint32_t rank; /* pairs of lower rank merge first; PAIR_NEVER: never */
    int32_t id;    /* id of the merged token */
} pair_merge;

typedef struct pair_slot {
    uint64_t key; /* see pair_key; 0: empty */
    pair_merge merge;
} pair_slot;

/* Starts as {0}. */
typedef struct pair_table {
    pair_slot *slots; /* open addressing */
    size_t slot_count, size;
    int shift; /* from the hash to an index */
} pair_table;

void pair_table_free(pair_table *t);
/* Makes room for `count` pairs in all; false on out-of-memory. */
bool pair_table_reserve(pair_table *t, size_t count);
/* Adds a pair that isn't there yet, with any rank but PAIR_NEVER; false on out-of-memory. */
bool pair_table_put(pair_table *t, int32_t left, int32_t right, pair_merge merge);

static inline uint64_t pair_key(int32_t left, int32_t right)
{
    return ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) + 1;
}

/* The index of a key, by Knuth's multiplication. */
static inline size_t pair_table_index(const pair_table *t, uint64_t key)
{
    return key * 0x9E3779B97F4A7C15u >> t->shift;
}

/* Prefetches the memory that pair_table_find will read. */
static inline void pair_table_fetch(const pair_table *t, int32_t left, int32_t right)
{
    if (t->slots)
        __builtin_prefetch(&t->slots[pair_table_index(t, pair_key(left, right))]);
}

/* The slot that holds the key, or the empty slot where it belongs. */
static inline pair_slot *pair_table_slot(const pair_table *t, uint64_t key)
{
    size_t i = pair_table_index(t, key);
    while (t->slots[i].key && t->slots[i].key != key)
        i = (i + 1) & (t->slot_count - 1);
    return &t->slots[i];
}

static inline pair_merge pair_table_find(const pair_table *t, int32_t left, int32_t right)
{
    const pair_slot *slot = t->slots ? pair_table_slot(t, pair_key(left, right)) : NULL;
    return slot && slot->key ? slot->merge : (pair_merge){PAIR_NEVER, -1};
}

#endif
