/* nn/decoder_core.h: the end of a decoder, behind its blocks, for decoder.c and decoder_parts.c. */
#ifndef NN_DECODER_CORE_H
#define NN_DECODER_CORE_H

#include "rapt/transformer.h"

/* What the output matrix multiplies, of what the last block gives. */
rapt_tensor *decoder_last_norm(rapt_tape *t, const rapt_decoder *m, rapt_tensor *x);
rapt_tensor *decoder_logits(rapt_tape *t, const rapt_decoder *m, rapt_tensor *hidden);

#endif
