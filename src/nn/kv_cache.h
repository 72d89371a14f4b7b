/* nn/kv_cache.h: functions of the KV cache for the language model's sliding window. */
#ifndef NN_KV_CACHE_H
#define NN_KV_CACHE_H

#include "rapt/nn.h"

/* Drops all positions. The next one to be appended is that of token `first` of each text. */
void kv_cache_move(rapt_kv_cache *c, size_t first);

#endif
