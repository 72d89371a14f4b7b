/* text/bpe/kept_pieces.c: how the table of pieces grows and takes a piece; how it is read is in the header. */
#include "text/bpe/kept_pieces.h"

#include "base/memory.h"

enum { FIRST_SETS = 32, WIDER = 2, BYTES_A_SET = 32 };

void kept_pieces_free(kept_pieces *k)
{
    memory_aligned_free(k->sets);
    *k = (kept_pieces){0};
}

/* Older pieces go first, so that the newer one of a set stays the newer one. */
static void move_pieces(const kept_pieces *from, kept_pieces *to)
{
    for (size_t i = 0; from->sets && i <= from->mask; i++)
        for (size_t j = KEPT_WAYS; j-- > 0;) {
            const kept_piece *p = &from->sets[i].way[j];
            if (p->key.word[1])
                kept_piece_put(kept_set_of(to, &p->key), &p->key, p->ids, KEPT_IDS);
        }
}

/* Small texts get a small table: clearing it takes time as well. */
bool kept_pieces_expect(kept_pieces *k, size_t size)
{
    const size_t there = k->sets ? k->mask + 1 : 0;
    k->bytes = size < SIZE_MAX - k->bytes ? k->bytes + size : SIZE_MAX;
    if (there == KEPT_SETS || k->bytes / BYTES_A_SET < WIDER * there)
        return true;
    size_t count = FIRST_SETS;
    while (count < KEPT_SETS && count < k->bytes / BYTES_A_SET)
        count *= 2;
    kept_pieces wider = {memory_aligned(sizeof *k->sets, count * sizeof *k->sets), count - 1, k->bytes};
    if (!wider.sets)
        return k->sets != NULL;
    memset(wider.sets, 0, count * sizeof *wider.sets);
    move_pieces(k, &wider);
    kept_pieces_free(k);
    *k = wider;
    return true;
}

void kept_piece_put(kept_set *set, const piece_key *key, const int32_t *ids, size_t count)
{
    set->way[1] = set->way[0];
    set->way[0].key = *key;
    for (size_t i = 0; i < KEPT_IDS; i++)
        set->way[0].ids[i] = i < count ? ids[i] : -1;
}
