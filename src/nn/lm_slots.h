/* nn/lm_slots.h: one pass of a language model over tokens of several texts, each continued where its slot of a KV cache ends. For
 * the engine: decoding steps and parts of prompts in one batch. */
#ifndef NN_LM_SLOTS_H
#define NN_LM_SLOTS_H

#include "nn/kv_slots.h"
#include "rapt/lm.h"

/* Of which of its tokens a piece wants logits. */
typedef enum lm_piece_logits { LM_PIECE_NONE, LM_PIECE_LAST, LM_PIECE_ALL } lm_piece_logits;

/* The next `count` > 0 tokens of the text in a slot. */
typedef struct lm_piece {
    size_t slot;
    const int32_t *ids; /* [count] */
    size_t count;
    lm_piece_logits logits;
} lm_piece;

/* Slots for `slots` texts of up to the model's context. Errors are those of rapt_kv_cache_new. */
kv_slots *lm_slots_new(const rapt_lm *m, size_t slots, rapt_storage storage, rapt_error *err);

/* Logits [rows, 1, vocab] of the tokens of pieces[count], at most one for each slot, that want them, in the order of the pieces;
 * where none does, some tensor that is not to be read. Keys and values are appended to the slots. Each row has the bits of
 * rapt_lm_step of its text alone. Fails as rapt_lm_step, naming the piece as a row; the slots are as before then. Inference
 * only. */
rapt_tensor *lm_slots_step(rapt_tape *t, const rapt_lm *m, kv_slots *slots, const lm_piece *pieces, size_t count);

#endif
