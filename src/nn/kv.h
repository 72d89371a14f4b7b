/* nn/kv.h: memory for keys and values that decoding keeps, for the states of decoder and language model. */
#ifndef NN_KV_H
#define NN_KV_H

#include "rapt/nn.h"

#include "base/arena.h"

/* [batch, capacity, features] each, contents undefined. False when memory is out. */
bool kv_make(rapt_kv *kv, arena *memory, size_t batch, size_t capacity, size_t features);

#endif
