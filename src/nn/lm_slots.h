/* nn/lm_slots.h: one pass of a language model over tokens of several texts; each text continues at the end of its slot of a KV
 * cache. For the engine, which has decoding steps and chunks of prompts in one batch. */
#ifndef NN_LM_SLOTS_H
#define NN_LM_SLOTS_H

#include "nn/kv_cache.h"
#include "rapt/lm.h"

/* The tokens of a piece that need logits. */
typedef enum lm_piece_logits { LM_PIECE_NONE, LM_PIECE_LAST, LM_PIECE_ALL } lm_piece_logits;

/* The next `count` > 0 tokens of the text in a slot. */
typedef struct lm_piece {
    size_t slot;
    const int32_t *ids; /* [count] */
    size_t count;
    lm_piece_logits logits;
} lm_piece;

/* Makes slots for `slots` texts of up to the model's context. Errors as in rapt_kv_cache_new. */
rapt_kv_cache *lm_slots_new(const rapt_lm *m, size_t slots, rapt_storage storage, rapt_error *err);

/* Logits [rows, 1, vocab] for the tokens of pieces[count] that need them, in the order of the pieces; at most one piece for each
 * slot. If no token needs logits, the result must not be read. Appends keys and values to the slots. Each row has the bits of
 * rapt_lm_step for its text alone. Fails as rapt_lm_step does, naming the piece as a row; the slots are then unchanged. Inference
 * only. */
rapt_tensor *lm_slots_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *slots, const lm_piece *pieces, size_t count);

#endif
