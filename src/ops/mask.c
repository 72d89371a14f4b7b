/* ops/mask.c: how many keys the queries of an example attend to. For attention; single rows are in mask.h. */
#include "ops/mask.h"

#include <string.h>

size_t mask_keys(const rapt_mask *mask, size_t example, size_t queries, size_t keys)
{
    size_t max = 0;
    if (queries == 0)
        return 0;
    if (!mask || !mask->per_query) /* the last query attends to the largest number */
        return mask_row_of(mask, example, queries - 1, queries, keys).count;
    for (size_t i = 0; i < queries; i++) {
        size_t count = mask_row_of(mask, example, i, queries, keys).count;
        max = count > max ? count : max;
    }
    return max;
}

void mask_fill_pattern(uint8_t *pattern, size_t keys)
{
    memset(pattern, 0, keys);
    memset(pattern + keys, 1, keys);
}
