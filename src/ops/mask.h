/* ops/mask.h: a rapt_mask as it applies to one query. For the softmax and the attention. */
#ifndef OPS_MASK_H
#define OPS_MASK_H

#include "rapt/tape.h"

/* Keys 0 .. count-1 may be attended to, where keep (if not NULL) is 1. */
typedef struct mask_row {
    size_t count;
    const uint8_t *keep;
} mask_row;

static inline mask_row mask_row_of(const rapt_mask *mask, size_t example, size_t query, size_t queries, size_t keys)
{
    mask_row row = {keys, NULL};
    if (!mask)
        return row;
    size_t at = example * queries + query;
    if (mask->valid_lens) {
        int32_t length = mask->valid_lens[mask->per_query ? at : example];
        row.count = length < 0 ? 0 : (size_t)length < keys ? (size_t)length : keys;
    }
    if (mask->causal && row.count > mask->past + query + 1)
        row.count = mask->past + query + 1;
    if (mask->keep)
        row.keep = mask->keep + (mask->keep_per_query ? at : example) * keys;
    return row;
}

/* The maximum of keys that any query of the example attends to: keys behind them are never read. */
size_t mask_keys(const rapt_mask *mask, size_t example, size_t queries, size_t keys);

#endif
