/* text/pieces/piece_trie.c: a trie whose edges are in one table of pairs. A node is only a number, which is in the keys of its
 * edges; it has no entry. */
#include "text/pieces/piece_trie.h"

enum { MAX_FOUND = 64 };

bool piece_trie_add(piece_trie *t, const char *text, size_t size, int32_t id)
{
    for (size_t i = 0, node = 0; i < size; i++) {
        const int32_t from = (int32_t)node, byte = (unsigned char)text[i];
        pair_merge next = pair_table_find(&t->edges, from, byte);
        if (next.rank == PAIR_NEVER) {
            next = (pair_merge){PIECE_TRIE_NO_TEXT, (int32_t)t->edges.size + 1};
            if (t->edges.size >= INT32_MAX - 1 || !pair_table_put(&t->edges, from, byte, next))
                return false;
        }
        if (i + 1 == size)
            pair_table_slot(&t->edges, pair_key(from, byte))->merge.rank = (uint32_t)id;
        node = (size_t)next.id;
    }
    return true;
}

size_t piece_trie_longest(const piece_trie *t, const char *text, size_t size)
{
    size_t longest = 0;
    int32_t node = 0, id;
    for (size_t i = 0, found = 0; i < size && found < MAX_FOUND && piece_trie_step(t, &node, text[i], &id); i++) {
        longest = id >= 0 ? i + 1 : longest;
        found += id >= 0;
    }
    return longest;
}
