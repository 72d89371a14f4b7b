/* nn/kv_slots.h: the KV cache of several texts, each in a slot of its own, with a length of its own. For steps that continue
 * many texts together (nn/lm_slots.h). */
#ifndef NN_KV_SLOTS_H
#define NN_KV_SLOTS_H

#include "rapt/kv.h"

/* Keys and values lie position after position in each slot, so that attention reads them with one stride; memory is resident only
 * where positions have been written. */
typedef struct kv_slots kv_slots;

/* sizes.rows slots of sizes.capacity positions, all empty; `grows` is not read. Errors are those of rapt_kv_cache_new. */
kv_slots *kv_slots_new(rapt_kv_sizes sizes, rapt_error *err);
void kv_slots_free(kv_slots *c); /* NULL is fine */

/* Keys and values of each layer, [sizes.layers] of [slots, capacity, features]. */
rapt_kv *kv_slots_layers(kv_slots *c);
rapt_kv_sizes kv_slots_sizes(const kv_slots *c);
/* Positions of a slot that are held. */
size_t kv_slots_past(const kv_slots *c, size_t slot);
/* Counts positions that every layer has appended. */
void kv_slots_advance(kv_slots *c, size_t slot, size_t positions);
/* Drops all but the first `positions` of those that are held. */
void kv_slots_truncate(kv_slots *c, size_t slot, size_t positions);
/* kv_slots_truncate, and gives the memory of later positions back to the system. */
void kv_slots_trim(kv_slots *c, size_t slot, size_t positions);
/* Slot `to` holds the first `positions` of slot `from` then, and no others. */
void kv_slots_copy(kv_slots *c, size_t from, size_t to, size_t positions);
#endif
