/* text/pieces/piece_trie.h: texts with ids, to be found byte by byte: those that a text begins with, all of them or the longest.
 * For tokenizers whose pieces overlap: SentencePiece's, Unigram, WordPiece. A text that must be found whole is token_list's. */
#ifndef TEXT_PIECES_PIECE_TRIE_H
#define TEXT_PIECES_PIECE_TRIE_H

#include "text/bpe/pair_table.h"

/* Starts as {0}, which is empty; freed by piece_trie_free. */
typedef struct piece_trie {
    pair_table edges; /* a node and a byte lead to a node, `id`, and to the text that ends there, `rank` */
} piece_trie;

enum { PIECE_TRIE_NO_TEXT = PAIR_RANKS }; /* above all ids */

static inline void piece_trie_free(piece_trie *t)
{
    pair_table_free(&t->edges);
}

/* Adds a text, with an id from 0 to 2^24 - 1. False on out-of-memory, or with 2^31 nodes. */
bool piece_trie_add(piece_trie *t, const char *text, size_t size, int32_t id);

/* Moves *node (0: the root) along `byte`; *id: the text that ends there, -1: none. False if no text continues so. */
static inline bool piece_trie_step(const piece_trie *t, int32_t *node, char byte, int32_t *id)
{
    const pair_merge next = pair_table_find(&t->edges, *node, (unsigned char)byte);
    *node = next.id;
    *id = next.rank < PIECE_TRIE_NO_TEXT ? (int32_t)next.rank : -1;
    return next.rank != PAIR_NEVER;
}

/* Bytes of the longest text with which text[0 .. size) begins; 0: none. If it begins with more than 64, only the 64 shortest
 * count, as in SentencePiece (normalizer.cc, PrefixMatch). */
size_t piece_trie_longest(const piece_trie *t, const char *text, size_t size);

#endif
