/* nn/decoder_state.h: the inside of rapt_decoder_state, for the decoder. */
#ifndef NN_DECODER_STATE_H
#define NN_DECODER_STATE_H

#include "rapt/nn.h"

#include "base/arena.h"

struct rapt_decoder_state {
    arena memory;
    size_t layers, sentences, rows, past;
    rapt_kv *self;         /* [layers], of each row */
    rapt_kv *cross;        /* [layers], of each sentence: its rows read the same keys and values */
    int32_t *memory_lens;  /* [sentences], or NULL */
    size_t *first;         /* [sentences + 1]: sentence i has the rows first[i] .. first[i + 1] - 1 */
    rapt_ragged shared;    /* the same, for the attention to the memory */
    bool one_each;         /* row i is of sentence i */
    rapt_tensor queries;   /* a step's rows, shared out so */
    rapt_real *saved;      /* one self tensor, for rows that change places */
    size_t *last_reader;   /* [rows at most], for the same */
};

/* x [rows, 1, feature] as [rows, feature], the rows of a sentence being one example. Belongs to the state. */
rapt_tensor *decoder_state_queries(rapt_decoder_state *s, const rapt_tensor *x);

#endif
