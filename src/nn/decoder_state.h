/* nn/decoder_state.h: the inside of rapt_decoder_state, for the decoder. */
#ifndef NN_DECODER_STATE_H
#define NN_DECODER_STATE_H

#include "rapt/nn.h"

#include "base/arena.h"

struct rapt_decoder_state {
    arena memory;
    size_t layers, batch, past;
    rapt_kv *self, *cross; /* [layers] */
    int32_t *memory_lens;  /* [batch], or NULL */
    rapt_real *saved;      /* one self tensor, for reordering */
};

#endif
