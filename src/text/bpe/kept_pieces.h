/* text/bpe/kept_pieces.h: the ids of short pieces that occurred before, in a table that fits a cache of the CPU. For
 * bpe_encode.c. Texts repeat themselves: nine pieces in ten are there already.
 *
 * What it keeps is only what the merges give again, so ids don't depend on it. It has a bound: a new piece takes the place of one
 * of two. */
#ifndef TEXT_BPE_KEPT_PIECES_H
#define TEXT_BPE_KEPT_PIECES_H

#include "text/eight_bytes.h"

#include <stdbool.h>

enum { KEPT_BYTES = 15, KEPT_IDS = 4, KEPT_WAYS = 2, KEPT_SETS = 32768 };

/* The bytes of a piece with zeros after them, and its size in the last byte. */
typedef struct piece_key {
    uint64_t word[2];
} piece_key;

typedef struct kept_piece {
    piece_key key;         /* all zero: empty */
    int32_t ids[KEPT_IDS]; /* -1 after the last one */
} kept_piece;

/* One cache line: the two newest pieces that belong here, the newer one first. */
typedef struct kept_set {
    kept_piece way[KEPT_WAYS];
} kept_set;

_Static_assert(sizeof(kept_set) == 64, "one cache line");

/* Starts as {0}. */
typedef struct kept_pieces {
    kept_set *sets;
    size_t mask;  /* the number of sets less one */
    size_t bytes; /* of the texts so far */
} kept_pieces;

/* Makes the table large enough for all texts so far and one of `size` bytes more, up to KEPT_SETS. Out of memory it
 * stays as it is; false: there is none. */
bool kept_pieces_expect(kept_pieces *k, size_t size);
void kept_pieces_free(kept_pieces *k);

/* The key of a piece of 1 to KEPT_BYTES bytes at `at` of a text. */
static inline piece_key piece_key_of(const char *text, size_t size, size_t at, size_t length)
{
    const uint64_t low = eight_bytes(text, size, at), high = length > 8 ? eight_bytes(text, size, at + 8) : 0;
    const uint64_t some = UINT64_MAX >> (64 - 8 * length) % 64; /* all 8 bytes, or length % 8 */
    return (piece_key){{length < 8 ? low & some : low, (length > 8 ? high & some : 0) | (uint64_t)length << 56}};
}

static inline kept_set *kept_set_of(const kept_pieces *k, const piece_key *key)
{
    uint64_t h = key->word[0] * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ key->word[1]) * 0xD6E8FEB86659FD93u;
    return &k->sets[h >> 40 & k->mask];
}

/* NULL: the set does not have it. */
static inline const kept_piece *kept_piece_find(const kept_set *set, const piece_key *key)
{
    for (size_t i = 0; i < KEPT_WAYS; i++)
        if (set->way[i].key.word[0] == key->word[0] && set->way[i].key.word[1] == key->word[1])
            return &set->way[i];
    return NULL;
}

/* Keeps a piece that the set does not have; up to KEPT_IDS ids. */
void kept_piece_put(kept_set *set, const piece_key *key, const int32_t *ids, size_t count);

#endif
