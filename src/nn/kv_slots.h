/* nn/kv_slots.h: the KV cache of several texts, each with its own slot and length. For steps that continue many texts together
 * (nn/lm_slots.h). */
#ifndef NN_KV_SLOTS_H
#define NN_KV_SLOTS_H

#include "rapt/kv.h"

/* The positions of a slot are contiguous, so that attention reads keys and values with one stride; only positions that were
 * written take memory. */
typedef struct kv_slots kv_slots;

/* Makes sizes.rows empty slots of sizes.capacity positions; `grows` is not read. Errors as in rapt_kv_cache_new. */
kv_slots *kv_slots_new(rapt_kv_sizes sizes, rapt_error *err);
void kv_slots_free(kv_slots *c); /* NULL is fine */

/* Keys and values of each layer, [sizes.layers] of [slots, capacity, features]. */
rapt_kv *kv_slots_layers(kv_slots *c);
rapt_kv_sizes kv_slots_sizes(const kv_slots *c);
/* Positions of a slot that are held. */
size_t kv_slots_past(const kv_slots *c, size_t slot);
/* Counts positions that every layer has appended. */
void kv_slots_advance(kv_slots *c, size_t slot, size_t positions);
/* Keeps only the first `positions` positions of a slot. */
void kv_slots_truncate(kv_slots *c, size_t slot, size_t positions);
/* kv_slots_truncate, and gives the memory of later positions back to the system. */
void kv_slots_trim(kv_slots *c, size_t slot, size_t positions);
/* Replaces the contents of slot `to` by the first `positions` positions of slot `from`. */
void kv_slots_copy(kv_slots *c, size_t from, size_t to, size_t positions);
#endif
