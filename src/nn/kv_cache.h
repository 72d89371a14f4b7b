/* nn/kv_cache.h: functions of the KV cache for attention, for the language model's sliding window, and for texts that each have a
 * row: rows may differ in length. */
#ifndef NN_KV_CACHE_H
#define NN_KV_CACHE_H

#include "rapt/nn.h"

#include "kernels/kernels.h"

/* rapt_kv_cache_resize; if the cache grows, it has memory for `first` positions at first. */
rapt_code kv_cache_resize_first(rapt_kv_cache *c, rapt_kv_sizes sizes, size_t first, rapt_error *err);

/* Drops all positions. The next appended position belongs to token `first` of each text. */
void kv_cache_move(rapt_kv_cache *c, size_t first);

/* Rounds keys and values [rows, time, features] to the numeric type of `kv`, and stores them at positions past .. past + time - 1
 * of each row, which must have room. Ragged ones take as many positions as each row has, from `past` on or from the position in
 * kv->cached. */
void kv_cache_append(const kernels *k, rapt_kv *kv, const rapt_tensor *keys, const rapt_tensor *values, size_t past);

/* ---- one row < sizes.rows ---------------------------------------------------------------------------------- */

/* Positions that the row holds. */
size_t kv_cache_row_past(const rapt_kv_cache *c, size_t row);
/* Notes that the first `positions` of a row may be written from now on, also by a step that fails: kv_cache_row_trim gives their
 * memory back. */
void kv_cache_row_touch(rapt_kv_cache *c, size_t row, size_t positions);
/* Counts positions of the row that every layer has appended. */
void kv_cache_row_advance(rapt_kv_cache *c, size_t row, size_t positions);
/* Keeps at most the first `positions` positions of the row. */
void kv_cache_row_truncate(rapt_kv_cache *c, size_t row, size_t positions);
/* kv_cache_row_truncate; in a sparse cache the memory of later positions goes back to the system. */
void kv_cache_row_trim(rapt_kv_cache *c, size_t row, size_t positions);
/* Replaces the contents of row `to` by the first `positions` positions of row `from`, which must hold as many. */
void kv_cache_row_copy(rapt_kv_cache *c, size_t from, size_t to, size_t positions);

#endif
