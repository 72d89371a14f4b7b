/* metrics/trie.h: numbers for sequences of symbols, so that equal sequences have equal numbers.
 * For n-gram counting: a word is a sequence of code points, an n-gram one of word numbers.
 * Not a dictionary to keep: it is emptied and sized for every segment, so that adding cannot fail. */
#ifndef METRICS_TRIE_H
#define METRICS_TRIE_H

#include "rapt/base.h"

enum { TRIE_ROOT = 0, TRIE_MAX_NODES = 1 << 28 };

/* All edges of the trie are in one hash table. Starts as {0}; freed by `trie_free`. */
struct trie {
    struct trie_edge *edges;
    size_t capacity;    /* edges allocated */
    size_t mask;        /* edges in use by this segment - 1; a power of two - 1 */
    uint32_t nodes;     /* given out, the root included; they count from 0 */
};

/* Empties the trie and reserves `nodes` nodes besides the root, at most TRIE_MAX_NODES. False on
 * out-of-memory. */
bool trie_clear(struct trie *trie, size_t nodes);

/* The node to which `symbol` leads from `parent`. trie_add makes it if need be; trie_find returns TRIE_ROOT if there is none. */
uint32_t trie_add(struct trie *trie, uint32_t parent, uint32_t symbol);
uint32_t trie_find(const struct trie *trie, uint32_t parent, uint32_t symbol);

void trie_free(struct trie *trie);

#endif
