/* nn/kv_cache.h: functions of the KV cache for attention, and for the language model's sliding window. */
#ifndef NN_KV_CACHE_H
#define NN_KV_CACHE_H

#include "rapt/nn.h"

#include "kernels/kernels.h"

/* Drops all positions. The next one to be appended is that of token `first` of each text. */
void kv_cache_move(rapt_kv_cache *c, size_t first);

/* Puts keys and values [rows, time, features] at positions past .. past + time - 1 of each row of `kv`, which has room for them,
 * rounded to what it is stored in; ragged ones at as many positions as each row has, from `past` on, or from where kv->cached
 * says. */
void kv_cache_append(const kernels *k, rapt_kv *kv, const rapt_tensor *keys, const rapt_tensor *values, size_t past);

#endif
