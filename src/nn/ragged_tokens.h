/* nn/ragged_tokens.h: texts of different lengths as the rows of one pass. For steps of language models, encoders of sentences,
 * and embedders. */
#ifndef NN_RAGGED_TOKENS_H
#define NN_RAGGED_TOKENS_H

#include "rapt/nn.h"

/* The tokens of a text. */
typedef struct token_row {
    const int32_t *ids; /* [count] */
    size_t count;
    size_t second; /* tokens from this one on have type 1; 0: all have type 0 */
} token_row;

/* rows[count] as tokens [count, longest] with lengths, in memory of the pass; `pad`, any token of the vocabulary, stands behind
 * shorter rows. NULL ids: the tape has failed, out of memory. */
rapt_tokens ragged_tokens_pack(rapt_tape *t, const token_row *rows, size_t count, int32_t pad);

#endif
