/* nn/lm_step.h: a step of a language model over pieces of several texts, each of which continues a row of a KV cache. For the
 * engine, which has decoding steps and chunks of prompts in one step. rapt_lm_step (rapt/lm.h) is the step of all rows alike. */
#ifndef NN_LM_STEP_H
#define NN_LM_STEP_H

#include "nn/kv_cache.h"
#include "rapt/lm.h"

/* The tokens of a piece that need logits. */
typedef enum lm_piece_logits { LM_PIECE_NONE, LM_PIECE_LAST, LM_PIECE_ALL } lm_piece_logits;

/* The next `count` > 0 tokens of the text in a row of a KV cache. */
typedef struct lm_piece {
    size_t row;
    const int32_t *ids; /* [count] */
    size_t count;
    lm_piece_logits logits;
} lm_piece;

/* Logits [rows, 1, vocab] for the tokens of pieces[count] that need them, in the order of the pieces; at most one piece for each
 * row of the cache. If no token needs logits, the result must not be read. Appends keys and values to the rows. Each row has the
 * bits of rapt_lm_step for its text alone. Fails as rapt_lm_step does, naming the piece as a row; the cache is then unchanged.
 * Inference only. */
rapt_tensor *lm_step_pieces(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *c, const lm_piece *pieces, size_t count);

#endif
