/* nn/kv_cache.h: functions of the KV cache for attention, and for the language model's sliding window. */
#ifndef NN_KV_CACHE_H
#define NN_KV_CACHE_H

#include "rapt/nn.h"

#include "kernels/kernels.h"

/* Drops all positions. The next appended position belongs to token `first` of each text. */
void kv_cache_move(rapt_kv_cache *c, size_t first);

/* Rounds keys and values [rows, time, features] to the numeric type of `kv`, and stores them at positions past .. past + time - 1
 * of each row, which must have room. Ragged ones take as many positions as each row has, from `past` on or from the position in
 * kv->cached. */
void kv_cache_append(const kernels *k, rapt_kv *kv, const rapt_tensor *keys, const rapt_tensor *values, size_t past);

#endif
