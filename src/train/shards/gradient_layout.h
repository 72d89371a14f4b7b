/* train/shards/gradient_layout.h: the places of the gradients of all trained dense parameters in one array, so that a shard's
 * gradients are added, sent and owned as ranges of it. Sparse parameters are separate (shard_sums.h).
 *
 * The order is about the order in which a backward pass completes gradients: from the last parameter to the first. */
#ifndef TRAIN_SHARDS_GRADIENT_LAYOUT_H
#define TRAIN_SHARDS_GRADIENT_LAYOUT_H

#include "rapt/tensor.h"

#include "base/arena.h"

#define LAYOUT_NOWHERE SIZE_MAX

typedef struct gradient_layout {
    size_t params;    /* of the set */
    size_t *offset;   /* [params]: element at which a parameter's gradient begins, or LAYOUT_NOWHERE */
    size_t *order;    /* [dense]: parameters by rising offset */
    size_t dense;
    size_t size;      /* elements of the array; a multiple of 64 bytes */
} gradient_layout;

/* RAPT_ERR_MEMORY: out of memory; there is nothing to free. */
rapt_code gradient_layout_make(gradient_layout *l, const rapt_params *set, rapt_error *err);
void gradient_layout_free(gradient_layout *l);

/* Whether training gives p a gradient that belongs into the array. */
bool gradient_layout_has(const rapt_param *p);
/* The elements that p takes there: each parameter begins at a multiple of 64 bytes. */
size_t gradient_layout_room(const rapt_param *p);

/* ---- value_array.c: the elements of the trained dense parameters in one array, as the layout has their gradients, so that
 * processes gather ranges of it. */

/* Moves the elements of the set into memory of the arena; their old memory goes back to the system. After the arena is freed, the
 * set may only be freed. NULL: out of memory, and nothing was moved. */
rapt_real *value_array_move(arena *memory, const rapt_params *set, const gradient_layout *layout);

#endif
