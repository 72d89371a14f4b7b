/* ops/spare.h: memory of a pass that is needed no more, for the gradients that are still to come: what a step touches
 * stays small. */
#ifndef OPS_SPARE_H
#define OPS_SPARE_H

#include "rapt/base.h"

#include <stddef.h>

#define SPARE_MOST 32

typedef struct spare_block {
    rapt_real *at;
    size_t numbers;
} spare_block;

typedef struct spare {
    spare_block blocks[SPARE_MOST]; /* none of which touches another; the newest last */
    int count;
} spare;

/* What a tensor of so many numbers takes: whole cache lines. */
size_t spare_size(size_t numbers);
/* Memory for so many, aligned like a tensor's; NULL where no block has room. */
rapt_real *spare_take(spare *s, size_t numbers);
/* Memory of spare_size(numbers) that nobody uses. */
void spare_give(spare *s, rapt_real *at, size_t numbers);

#endif
