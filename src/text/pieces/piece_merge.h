/* text/pieces/piece_merge.h: BPE over characters: neighbors merge, the best pair first, the leftmost of equal ones (Sennrich et
 * al. 2016). For SentencePiece's BPE and for the package `tokenizers`; what merges, and how well, a rule says. bpe/ has the
 * byte-level kind. A heap of candidates makes it n log n, because a whole text can be one piece. */
#ifndef TEXT_PIECES_PIECE_MERGE_H
#define TEXT_PIECES_PIECE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIECE_MERGE_NONE UINT32_MAX

typedef struct piece_symbol {
    int32_t id;              /* what the rule knows it by; negative: it never merges */
    uint32_t previous, next; /* neighbors, or PIECE_MERGE_NONE */
    uint32_t start, size;    /* the part of the text, in any unit; size 0: merged into the one before it */
} piece_symbol;

typedef struct piece_merge_rule {
    /* Whether two neighbors merge; *key: pairs of lower keys merge first; *id: the id of both together. */
    bool (*find)(void *context, const piece_symbol *left, const piece_symbol *right, uint32_t *key, int32_t *id);
    void *context;
} piece_merge_rule;

/* Memory that texts can share. Starts as {0}; freed by piece_merge_free. */
typedef struct piece_merge_work {
    piece_symbol *symbols; /* [count] */
    size_t count, capacity;
    struct piece_candidate *heap;
    size_t waiting, heap_capacity;
} piece_merge_work;

void piece_merge_free(piece_merge_work *w);
/* Appends a symbol with a size above 0; false on out-of-memory. Set `count` to 0 to begin a text. */
bool piece_merge_add(piece_merge_work *w, int32_t id, size_t start, size_t size);
/* Merges the symbols until no pair merges; the first that is left is symbol 0. False on out-of-memory. */
bool piece_merge_all(piece_merge_work *w, const piece_merge_rule *rule);

#endif
