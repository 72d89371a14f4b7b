/* train/shards/value_array.h: the elements of the trained dense parameters in one array, as the layout has their gradients, so
 * that processes gather ranges of it. */
#ifndef TRAIN_SHARDS_VALUE_ARRAY_H
#define TRAIN_SHARDS_VALUE_ARRAY_H

#include "base/arena.h"
#include "train/shards/gradient_layout.h"

/* Moves the elements of the set into memory of the arena; their old memory goes back to the system. After the arena is freed, the
 * set may only be freed. NULL: out of memory, and nothing was moved. */
rapt_real *value_array_move(arena *memory, const rapt_params *set, const gradient_layout *layout);

#endif
