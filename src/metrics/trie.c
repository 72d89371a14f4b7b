/* metrics/trie.c: a trie whose edges (parent, symbol) -> child are kept in one open-addressing hash table.
 * For n-gram counting.
 * Not approximate: keys are compared whole, so two sequences never share a number. */
#include "metrics/trie.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_SLOTS = 64 };

struct trie_edge {
    uint64_t key;   /* parent << 32 | symbol */
    uint32_t child; /* TRIE_ROOT marks a free slot: no edge leads back to the root */
};

/* Half of the table stays free, so that probes are short. */
static size_t trie_reserve(size_t nodes)
{
    size_t capacity = MIN_SLOTS;
    while (capacity < 2 * nodes)
        capacity *= 2;
    return capacity;
}

bool trie_clear(struct trie *trie, size_t nodes)
{
    size_t capacity = trie_reserve(nodes);
    if (capacity > trie->capacity) {
        trie_free(trie);
        trie->edges = malloc(capacity * sizeof *trie->edges);
        if (!trie->edges)
            return false;
        trie->capacity = capacity;
    }
    /* only the part that this segment needs, so that a long segment does not slow down all later ones */
    memset(trie->edges, 0, capacity * sizeof *trie->edges);
    trie->mask = capacity - 1;
    trie->nodes = 1;
    return true;
}

/* The slot of a key, or the free slot where it belongs. The multiplier is 2^64 over the golden ratio (Knuth's multiplicative
 * hashing); its upper bits depend on all of the key. */
static struct trie_edge *edge_slot(const struct trie *trie, uint64_t key)
{
    uint64_t hash = (key ^ key >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(hash >> 32) & trie->mask;
    while (trie->edges[i].child != TRIE_ROOT && trie->edges[i].key != key)
        i = (i + 1) & trie->mask;
    return &trie->edges[i];
}

static uint64_t edge_key(uint32_t parent, uint32_t symbol)
{
    return (uint64_t)parent << 32 | symbol;
}

uint32_t trie_add(struct trie *trie, uint32_t parent, uint32_t symbol)
{
    uint64_t key = edge_key(parent, symbol);
    struct trie_edge *edge = edge_slot(trie, key);
    if (edge->child == TRIE_ROOT)
        *edge = (struct trie_edge){key, trie->nodes++};
    return edge->child;
}

uint32_t trie_find(const struct trie *trie, uint32_t parent, uint32_t symbol)
{
    return edge_slot(trie, edge_key(parent, symbol))->child;
}

void trie_free(struct trie *trie)
{
    free(trie->edges);
    *trie = (struct trie){0};
}
