/* nn/decoder_parts.h: one decoding step of several batches that began at different times and are therefore at different
 * positions. For searches that share their steps. */
#ifndef NN_DECODER_PARTS_H
#define NN_DECODER_PARTS_H

#include "rapt/transformer.h"

/* A batch: the next token of each of its rows. */
typedef struct decoder_part {
    rapt_decoder_state *state;
    const int32_t *tokens; /* [rows] */
    size_t rows;
} decoder_part;

/* rapt_decoder_step for parts[count], count > 0, each with its own state: logits [all rows, 1, target_vocab], part by part, with
 * the bits that each part would have alone. A failure leaves all states as they were. */
rapt_tensor *decoder_step_parts(rapt_tape *t, const rapt_decoder *m, const decoder_part *parts, size_t count);

#endif
