/* text/spm/piece_trie.h: texts with ids, to be found byte by byte: those that a text begins with, all of them or the longest. For
 * tokenizers whose pieces overlap: SentencePiece's. A text that must be found whole is token_list's. */
#ifndef TEXT_SPM_PIECE_TRIE_H
#define TEXT_SPM_PIECE_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}, which is empty; freed by piece_trie_free. */
typedef struct piece_trie {
    struct trie_slot *slots; /* [slot_count]: open addressing by node and byte */
    size_t slot_count;
    uint32_t nodes; /* node 0 is the root */
} piece_trie;

void piece_trie_free(piece_trie *t);
/* Makes space for about this number of nodes: one for each byte of a text, except for beginnings that texts share. False on
 * out-of-memory. */
bool piece_trie_reserve(piece_trie *t, size_t nodes);
/* Adds a text that is not empty, with an id from 0 to 2^24 - 2. False on out-of-memory, or with 2^31 nodes. */
bool piece_trie_add(piece_trie *t, const char *text, size_t size, int32_t id);

/* Moves *node (0: the root) along `byte`; *id: the text that ends there, -1: none. False if no text continues so. */
bool piece_trie_step(const piece_trie *t, uint32_t *node, char byte, int32_t *id);
/* Bytes of the longest text with which text[0 .. size) begins; 0: none. If it begins with more than 64, only the 64 shortest
 * count, as in SentencePiece (normalizer.cc, PrefixMatch). */
size_t piece_trie_longest(const piece_trie *t, const char *text, size_t size);

#endif
