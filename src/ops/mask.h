/* ops/mask.h: a rapt_mask as it applies to one query. For the softmax and the attention. */
#ifndef OPS_MASK_H
#define OPS_MASK_H

#include "rapt/tape.h"

/* A row may attend to keys first .. count-1 that have keep 1 (or if keep is NULL, to all of them). */
typedef struct mask_row {
    size_t first; /* 0 without a window */
    size_t count;
    const uint8_t *keep;
} mask_row;

/* Positions before the first query of an example. */
static inline size_t mask_past(const rapt_mask *mask, size_t example)
{
    return mask->cached ? mask->cached[example].past : mask->past;
}

/* The example of keys and values that one of queries attends to. */
static inline size_t mask_keys_example(const rapt_mask *mask, size_t example)
{
    return mask->cached ? mask->cached[example].row : example;
}

static inline mask_row mask_row_of(const rapt_mask *mask, size_t example, size_t query, size_t queries, size_t keys)
{
    mask_row row = {0, keys, NULL};
    if (!mask)
        return row;
    size_t at = example * queries + query;
    if (mask->valid_lens) {
        int32_t length = mask->valid_lens[mask->per_query ? at : example];
        row.count = length < 0 ? 0 : (size_t)length < keys ? (size_t)length : keys;
    }
    const size_t seen = mask_past(mask, example) + query + 1;
    if (mask->causal && row.count > seen)
        row.count = seen;
    if (mask->window && seen > mask->window)
        row.first = seen - mask->window;
    if (mask->keep)
        row.keep = mask->keep + (mask->keep_per_query ? at : example) * keys;
    return row;
}

/* The max number of keys that any query of the example attends to: later keys are never read. */
size_t mask_keys(const rapt_mask *mask, size_t example, size_t queries, size_t keys);

/* Whether the operations support the mask: a window must be causal and without `keep`; cached rows also without valid_lens. */
static inline bool mask_fits(const rapt_mask *mask)
{
    return !mask || ((!mask->window || (mask->causal && !mask->keep)) &&
                     (!mask->cached || (mask->causal && !mask->keep && !mask->valid_lens)));
}

/* Fills pattern [2 keys] with zeros, then ones: every row of a window finds its `keep` in it. */
void mask_fill_pattern(uint8_t *pattern, size_t keys);

/* The flags of `keys` keys that a row keeps; NULL: all up to its count. `pattern` is read if the mask has a window. */
static inline const uint8_t *mask_keep_of(mask_row row, const uint8_t *pattern, size_t keys)
{
    return row.first == 0 ? row.keep : pattern + keys - (row.first < keys ? row.first : keys);
}

#endif
