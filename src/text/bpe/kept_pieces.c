/* text/bpe/kept_pieces.c: how the table of pieces grows and takes a piece; how it is read is in the header. */
#include "text/bpe/kept_pieces.h"

#include "base/memory.h"

enum { FIRST_SETS = 32, WIDER = 8, BYTES_A_SET = 32 };

void kept_pieces_free(kept_pieces *k)
{
    memory_aligned_free(k->sets);
    *k = (kept_pieces){0};
}

/* Small texts get a small table: clearing it takes time as well. It grows by a factor at least, so that little is lost. */
bool kept_pieces_expect(kept_pieces *k, size_t size)
{
    const size_t there = k->sets ? k->mask + 1 : 0;
    size_t count = FIRST_SETS;
    k->bytes = size < SIZE_MAX - k->bytes ? k->bytes + size : SIZE_MAX;
    if (there == KEPT_SETS || k->bytes / BYTES_A_SET < WIDER * there)
        return true;
    while (count < KEPT_SETS && count < k->bytes / BYTES_A_SET)
        count *= 2;
    kept_set *sets = memory_aligned(sizeof *sets, count * sizeof *sets);
    if (!sets)
        return false;
    memset(sets, 0, count * sizeof *sets);
    memory_aligned_free(k->sets);
    k->sets = sets;
    k->mask = count - 1;
    return true;
}

void kept_piece_put(kept_set *set, const piece_key *key, const int32_t *ids, size_t count)
{
    set->way[1] = set->way[0];
    set->way[0].key = *key;
    for (size_t i = 0; i < KEPT_IDS; i++)
        set->way[0].ids[i] = i < count ? ids[i] : -1;
}
