/* ops/mask.c: valid lengths, causality and boolean masks come down to a count and a row of flags. */
#include "ops/mask.h"

static size_t clamp(int32_t length, size_t keys)
{
    return length < 0 ? 0 : (size_t)length < keys ? (size_t)length : keys;
}

mask_row mask_row_of(const rapt_mask *mask, size_t example, size_t query, size_t queries, size_t keys)
{
    mask_row row = {keys, NULL};
    if (!mask)
        return row;
    size_t at = example * queries + query;
    if (mask->valid_lens)
        row.count = clamp(mask->valid_lens[mask->per_query ? at : example], keys);
    if (mask->causal && row.count > mask->past + query + 1)
        row.count = mask->past + query + 1;
    if (mask->keep)
        row.keep = mask->keep + (mask->keep_per_query ? at : example) * keys;
    return row;
}

size_t mask_keys(const rapt_mask *mask, size_t example, size_t queries, size_t keys)
{
    size_t most = 0;
    if (!mask || !mask->per_query) /* the last query sees the most */
        return mask_row_of(mask, example, queries - 1, queries, keys).count;
    for (size_t i = 0; i < queries; i++) {
        size_t count = mask_row_of(mask, example, i, queries, keys).count;
        most = count > most ? count : most;
    }
    return most;
}
