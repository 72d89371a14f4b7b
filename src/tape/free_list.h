/* tape/free_list.h: recycles the gradient buffers of a pass that have been passed on: the working set of a training step stays
 * small. */
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
    free_list_block blocks[FREE_LIST_MAX_BLOCKS]; /* not adjacent to each other; the newest last */
    int count;
} free_list;

/* `elements` rounded up to whole cache lines. */
size_t free_list_size(size_t elements);
/* Memory for `elements`, aligned like a tensor's; NULL if no block is large enough. */
rapt_real *free_list_take(free_list *s, size_t elements);
/* Adds memory of free_list_size(elements) elements that is no longer used. */
void free_list_give(free_list *s, rapt_real *at, size_t elements);

#endif
