/* rapt/kv.h: the KV cache: keys and values of the positions that a decoder has computed, kept between decoding steps. rapt/nn.h
 * has attention to them, rapt/transformer.h and rapt/lm.h have the decoding steps of whole models.
 */
#ifndef RAPT_KV_H
#define RAPT_KV_H

#include "rapt/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys and values of one layer, [rows, capacity, features] each. They belong to a KV cache, or a caller sets k and v to tensors
 * of its own, in fp32, and zeroes the other members. */
typedef struct rapt_kv {
    rapt_tensor k, v;             /* `data` is NULL unless they are stored in fp32 */
    rapt_type storage;
    size_t head;                  /* features of a head. If not in fp32, each head of a position is a stored row of its own, with
                                     its own scales */
    uint8_t *k_stored, *v_stored; /* [rows, capacity, features / head, bytes of a head's row]; NULL: stored in fp32 */
    const struct attention_panels *panels; /* a second copy of `k`, and perhaps `v`, which a decoder's state has packed for matrix
                                              products; or NULL */
    const rapt_cached_row *cached; /* [batch] row and position of each example in a step whose rows differ in length; NULL:
                                      example b has row b */
} rapt_kv;

/* The KV cache of a decoder: rows of keys and values of every layer. Each row holds positions 0 .. length - 1 of one text. The
 * functions below treat all rows alike, so their lengths stay equal; the engine (rapt/engine.h) continues and copies rows one by
 * one. Owns its memory. Prefill and decoding steps append to it (rapt_lm_step, rapt_decoder_step); between steps, rows may be
 * selected and the newest positions dropped. One thread at a time may use a cache. */
typedef struct rapt_kv_cache rapt_kv_cache;

typedef struct rapt_kv_sizes {
    size_t layers;
    size_t rows;     /* max */
    size_t capacity; /* max positions of a row */
    size_t features; /* features of a key or value, over all heads */
    bool grows;      /* memory is allocated as positions are reserved (rapt_kv_cache_reserve); if false, for the whole capacity at
                        once */
    size_t head;     /* features of a head, which divides `features`; 0: one head */
    rapt_type storage; /* numeric type of keys and values. They are rounded when they are appended and widened when they are
                             attended to, even by tokens of the same step, so that the result does not depend on how many tokens a
                             step has */
    bool sparse; /* rows may hold far fewer positions than `capacity`: its memory is mapped, but only what was written takes any;
                    `grows` is not read. Attention reads it several per cent more slowly, since it has no huge pages */
} rapt_kv_sizes;

/* Bytes that the keys and values of one position of one row take in all layers; SIZE_MAX if the number is larger. */
RAPT_API size_t rapt_kv_position_bytes(const rapt_kv_sizes *sizes);

/* An empty cache of sizes.rows rows, contents undefined. NULL with `err` (which may be NULL) set: out of memory; RAPT_ERR_VALUE:
 * an unknown `storage`, or a `head` that does not divide `features`. */
RAPT_API rapt_kv_cache *rapt_kv_cache_new(rapt_kv_sizes sizes, rapt_error *err);
/* Frees the cache; it may be NULL. */
RAPT_API void rapt_kv_cache_free(rapt_kv_cache *c);
/* Empties the cache and gives it other sizes, with sizes.rows rows. Allocates if its memory is too small, or sparse. Fails as
 * rapt_kv_cache_new does; the cache then has size 0. `err` may be NULL. */
RAPT_API rapt_code rapt_kv_cache_resize(rapt_kv_cache *c, rapt_kv_sizes sizes, rapt_error *err);
/* The sizes of the last rapt_kv_cache_new or rapt_kv_cache_resize. */
RAPT_API rapt_kv_sizes rapt_kv_cache_sizes(const rapt_kv_cache *c);
/* Rows in use. */
RAPT_API size_t rapt_kv_cache_rows(const rapt_kv_cache *c);
/* Positions that each row holds; if the engine has continued rows one by one, positions of the longest row. */
RAPT_API size_t rapt_kv_cache_past(const rapt_kv_cache *c);
/* Allocates memory for positions 0 .. positions - 1 of every row of a cache that grows. The memory grows by at least half each
 * time, so a text of n tokens copies O(n) positions in all. Contents are kept, also after a failure; the data of
 * rapt_kv_cache_layer may move. RAPT_ERR_SHAPE: more positions than sizes.capacity; RAPT_ERR_MEMORY. `err` may be NULL. Only for
 * a caller's own modules: rapt_lm_step and rapt_decoder_step call it themselves. */
RAPT_API rapt_code rapt_kv_cache_reserve(rapt_kv_cache *c, size_t positions, rapt_error *err);
/* Keys and values of layer `layer` < sizes.layers, [rows, positions, features]; they belong to the cache. `positions` is the
 * capacity, or in a cache that grows, the number of positions that memory is allocated for. */
RAPT_API rapt_kv *rapt_kv_cache_layer(rapt_kv_cache *c, size_t layer);
/* Adds `positions` to rapt_kv_cache_past, after every layer has appended as many (rapt_causal_self_attention). Only for a
 * caller's own modules: rapt_lm_step and rapt_decoder_step call it themselves. */
RAPT_API void rapt_kv_cache_advance(rapt_kv_cache *c, size_t positions);
/* The number of tokens of each text that precede position 0 of the cache; 0 unless the window has moved (rapt_lm_next). */
RAPT_API size_t rapt_kv_cache_first(const rapt_kv_cache *c);
/* Drops the positions of all tokens after the first `tokens` of each text: afterwards rapt_kv_cache_first + rapt_kv_cache_past is
 * at most `tokens`, or no position is left. A later step appends there, for instance another continuation of a prefix. */
RAPT_API void rapt_kv_cache_truncate(rapt_kv_cache *c, size_t tokens);
/* Drops all positions, for other texts; `rows`, at most sizes.rows, are in use from now on. */
RAPT_API void rapt_kv_cache_clear(rapt_kv_cache *c, size_t rows);
/* Replaces the rows by `rows` rows, at most sizes.rows: row i becomes a copy of what row parents[i] < rapt_kv_cache_rows() was. A
 * parent may have any number of rows (several continuations of one prefill) or none (a finished row leaves the batch). A row that
 * stays in place is not copied. */
RAPT_API void rapt_kv_cache_select(rapt_kv_cache *c, const int32_t *parents, size_t rows);

#ifdef __cplusplus
}
#endif

#endif
