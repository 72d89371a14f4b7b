/* nn/ragged_tokens.c: pads rows of tokens to the longest one. No pass computes the padding: the lengths say where it begins. */
#include "nn/ragged_tokens.h"

#include "tape/tape_core.h"

#include <string.h>

rapt_tokens ragged_tokens_pack(rapt_tape *t, const token_row *rows, size_t count, int32_t pad)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = rows[i].count > longest ? rows[i].count : longest;
    int32_t *ids = tape_alloc(t, count * longest, sizeof *ids), *lens = tape_alloc(t, count, sizeof *lens);
    if (!ids || !lens)
        return (rapt_tokens){0};
    for (size_t i = 0; i < count; i++) {
        int32_t *row = ids + i * longest;
        lens[i] = (int32_t)rows[i].count;
        memcpy(row, rows[i].ids, rows[i].count * sizeof *row);
        for (size_t j = rows[i].count; j < longest; j++)
            row[j] = pad;
    }
    return (rapt_tokens){ids, count, longest, lens};
}
