/* nn/kv.h: memory for keys and values that decoding keeps, for the states of decoder and language model. */
#ifndef NN_KV_H
#define NN_KV_H

#include "rapt/nn.h"

#include "base/arena.h"

/* [rows, capacity, features], contents undefined. NULL when memory is out. */
rapt_real *kv_room(arena *memory, size_t rows, size_t capacity, size_t features);

/* Two of them. False when memory is out. */
bool kv_make(rapt_kv *kv, arena *memory, size_t batch, size_t capacity, size_t features);

#endif
