/* nn/decoder_core.h: the end of a decoder, after its blocks, for decoder.c and decoder_parts.c. */
#ifndef NN_DECODER_CORE_H
#define NN_DECODER_CORE_H

#include "rapt/transformer.h"

/* The hidden states that the output matrix multiplies, from the output of the last block. */
rapt_tensor *decoder_last_norm(rapt_tape *t, const rapt_decoder *m, rapt_tensor *x);
rapt_tensor *decoder_logits(rapt_tape *t, const rapt_decoder *m, rapt_tensor *hidden);

#endif
