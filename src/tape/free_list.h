/* tape/free_list.h: memory of a pass that is needed no more, for the gradients that are still to come: what a training step
 * touches stays small. */
#ifndef TAPE_FREE_LIST_H
#define TAPE_FREE_LIST_H

#include "rapt/base.h"

#include <stddef.h>

#define FREE_LIST_MAX_BLOCKS 32

typedef struct free_list_block {
    rapt_real *at;
    size_t elements;
} free_list_block;

typedef struct free_list {
    free_list_block blocks[FREE_LIST_MAX_BLOCKS]; /* none of which touches another; the newest last */
    int count;
} free_list;

/* Elements that a tensor of `elements` takes: whole cache lines. */
size_t free_list_size(size_t elements);
/* Memory for `elements`, aligned like a tensor's; NULL where no block is large enough. */
rapt_real *free_list_take(free_list *s, size_t elements);
/* Memory of free_list_size(elements) elements that nobody uses. */
void free_list_give(free_list *s, rapt_real *at, size_t elements);

#endif
