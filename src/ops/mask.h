/* ops/mask.h: what a rapt_mask says about one query. For the softmax and the attention. */
#ifndef OPS_MASK_H
#define OPS_MASK_H

#include "rapt/tape.h"

/* Keys 0 .. count-1 may be attended to, where keep (if not NULL) is 1. */
typedef struct mask_row {
    size_t count;
    const uint8_t *keep;
} mask_row;

mask_row mask_row_of(const rapt_mask *mask, size_t example, size_t query, size_t queries, size_t keys);

/* The most keys that any query of the example sees: what lies beyond is never read. */
size_t mask_keys(const rapt_mask *mask, size_t example, size_t queries, size_t keys);

#endif
