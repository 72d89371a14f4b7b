/* text/pieces/piece_cuts.h: a text that is cut into pieces: the result of Unigram and of SentencePiece's models. */
#ifndef TEXT_PIECES_PIECE_CUTS_H
#define TEXT_PIECES_PIECE_CUTS_H

#include "base/buffer.h"

#include <stdint.h>

/* Ends of pieces are 32-bit numbers. */
#define PIECE_MAX_TEXT ((size_t)INT32_MAX)

/* A piece begins at the end of the piece before it. */
typedef struct piece_cut {
    uint32_t end;
    int32_t id;
} piece_cut;

/* Starts as {0}; `list` is the caller's to free. */
typedef struct piece_cuts {
    piece_cut *list;
    size_t count, capacity;
} piece_cuts;

/* False on out-of-memory. */
static inline bool piece_cuts_add(piece_cuts *c, size_t end, int32_t id)
{
    if (!ARRAY_RESERVE(&c->list, &c->capacity, c->count + 1))
        return false;
    c->list[c->count++] = (piece_cut){(uint32_t)end, id};
    return true;
}

/* Bytes of the first character of text[0 .. size), size > 0, as SentencePiece counts: the first byte decides, regardless of the
 * bytes after it. */
static inline size_t piece_character(const char *text, size_t size)
{
    const unsigned char first = (unsigned char)*text;
    const size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return length < size ? length : size;
}

#endif
