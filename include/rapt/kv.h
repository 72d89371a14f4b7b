/* rapt/kv.h: the KV cache: keys and values of the positions that a decoder has computed, kept between decoding steps. Attention
 * to them is in rapt/nn.h, decoding steps of whole models there and in rapt/lm.h.
 */
#ifndef RAPT_KV_H
#define RAPT_KV_H

#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys and values of one layer, [rows, capacity, features] each: of a KV cache, or tensors of the caller, who zeroes the
 * other members: such keys and values are in fp32. */
typedef struct rapt_kv {
    rapt_tensor k, v;             /* `data` is NULL where they are stored otherwise than in fp32 */
    rapt_storage storage;
    size_t head;                  /* features of a head: where not in fp32, a row that is stored by itself */
    uint8_t *k_stored, *v_stored; /* [rows, capacity, features / head, bytes of a head's row], or NULL: in fp32 */
    const struct attention_panels *k_panels; /* `k` once more, as a decoder's state has packed it for its products; or NULL */
    const rapt_cached_row *cached; /* of a step whose examples have rows and positions of their own: [batch]; or NULL, for
                                 example b has row b */
} rapt_kv;

/* The KV cache of a decoder: of every layer, keys and values at positions 0 .. past - 1 of rows that grow together. Owns its
 * memory. Prefill and decoding steps append to it (rapt_lm_step, rapt_decoder_step); between them, rows may be selected and the
 * newest positions dropped. One cache serves one thread. */
typedef struct rapt_kv_cache rapt_kv_cache;

typedef struct rapt_kv_sizes {
    size_t layers;
    size_t rows;     /* max */
    size_t capacity; /* positions, max */
    size_t features; /* of a key or value: of all its heads together */
    bool grows;      /* memory is allocated for the positions that are reserved (rapt_kv_cache_reserve), not at once for all */
    size_t head;     /* features of a head, which divides `features`; 0: one head */
    rapt_storage storage; /* keys and values are rounded when they are appended, and widened when they are attended to: by the
                        tokens that come with them, too, so that the result does not depend on how many tokens come at once */
} rapt_kv_sizes;

/* Bytes of the keys and values of one position of one row in all layers; SIZE_MAX where that is more. */
RAPT_API size_t rapt_kv_position_bytes(const rapt_kv_sizes *sizes);

/* An empty cache of sizes.rows rows, contents undefined. NULL with `err` (or NULL) set: out of memory; RAPT_ERR_VALUE: no such
 * storage, or heads that don't divide the features. */
RAPT_API rapt_kv_cache *rapt_kv_cache_new(rapt_kv_sizes sizes, rapt_error *err);
/* Frees the cache; it may be NULL. */
RAPT_API void rapt_kv_cache_free(rapt_kv_cache *c);
/* Empties the cache and gives it other sizes, with sizes.rows rows. Allocates where its memory is too small only. Errors are
 * those of rapt_kv_cache_new, with `err` (or NULL) set, and leave a cache of size 0. */
RAPT_API rapt_code rapt_kv_cache_resize(rapt_kv_cache *c, rapt_kv_sizes sizes, rapt_error *err);
/* The sizes that the cache was made with or resized to. */
RAPT_API rapt_kv_sizes rapt_kv_cache_sizes(const rapt_kv_cache *c);
/* Rows in use. */
RAPT_API size_t rapt_kv_cache_rows(const rapt_kv_cache *c);
/* Positions of each row that are held. */
RAPT_API size_t rapt_kv_cache_past(const rapt_kv_cache *c);
/* Makes room for positions 0 .. positions - 1 of every row, of a cache that grows; at least half as much again as there was, so
 * that a text of n tokens copies O(n) of them. What is held is kept; data of rapt_kv_cache_layer may move. RAPT_ERR_SHAPE where
 * sizes.capacity is less, RAPT_ERR_MEMORY; `err` (or NULL) is set, and what is held is kept. Only for modules of one's own: the
 * steps of the models do it. */
RAPT_API rapt_code rapt_kv_cache_reserve(rapt_kv_cache *c, size_t positions, rapt_error *err);
/* Keys and values of layer `layer` < sizes.layers, [rows, positions, features]; they belong to the cache. Positions: the
 * capacity, or, of a cache that grows, those that there is room for. */
RAPT_API rapt_kv *rapt_kv_cache_layer(rapt_kv_cache *c, size_t layer);
/* Counts `positions` more, which every layer has appended (rapt_causal_self_attention). Only for modules of one's own: the steps
 * of the models do it. */
RAPT_API void rapt_kv_cache_advance(rapt_kv_cache *c, size_t positions);
/* Tokens of each text before position 0 of the cache; 0 but for a sliding window (rapt_lm_next). */
RAPT_API size_t rapt_kv_cache_first(const rapt_kv_cache *c);
/* Drops what is held of tokens after the first `tokens` of each text: the newest positions, so that rapt_kv_cache_first +
 * rapt_kv_cache_past is at most `tokens`, or no position is left. What follows is appended there: another continuation of a
 * prefix. */
RAPT_API void rapt_kv_cache_truncate(rapt_kv_cache *c, size_t tokens);
/* Drops all positions, for other texts; `rows`, at most sizes.rows, are in use from now on. */
RAPT_API void rapt_kv_cache_clear(rapt_kv_cache *c, size_t rows);
/* There are `rows` rows from now on, at most sizes.rows; row i becomes what row parents[i] < rapt_kv_cache_rows() was. One
 * parent may have any number of rows (several continuations of one prefill) or none (finished rows leave the batch). Rows that
 * stay in place are not copied. */
RAPT_API void rapt_kv_cache_select(rapt_kv_cache *c, const int32_t *parents, size_t rows);

#ifdef __cplusplus
}
#endif

#endif
