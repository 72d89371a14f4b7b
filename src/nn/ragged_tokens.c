/* nn/ragged_tokens.c: pads rows of tokens to the longest one. No pass computes the padding: the lengths say where it begins. */
#include "nn/ragged_tokens.h"

#include "tape/tape_core.h"

#include <string.h>

/* [count, longest]; NULL: no row has a second text, or the tape has failed. */
static const int32_t *pack_types(rapt_tape *t, const token_row *rows, size_t count, size_t longest)
{
    size_t typed = 0;
    while (typed < count && rows[typed].second == 0)
        typed++;
    int32_t *types = typed < count ? tape_alloc(t, count * longest, sizeof *types) : NULL;
    for (size_t i = 0; i < count && types; i++)
        for (size_t j = 0; j < longest; j++)
            types[i * longest + j] = rows[i].second > 0 && j >= rows[i].second;
    return types;
}

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
    const int32_t *types = pack_types(t, rows, count, longest);
    return tape_failed(t) ? (rapt_tokens){0} : (rapt_tokens){ids, count, longest, lens, types};
}
