/* nn/decoder_state.h: the inside of rapt_decoder_state, for the decoder. */
#ifndef NN_DECODER_STATE_H
#define NN_DECODER_STATE_H

#include "rapt/nn.h"

#include "base/arena.h"

struct rapt_decoder_state {
    rapt_kv_cache *self;  /* of each row */
    rapt_kv_cache *cross; /* one row for each sentence: all rows of the sentence read the same keys and values */
    arena memory;         /* holds the arrays below, and packed keys and values */
    int32_t *memory_lens; /* [sentences], or NULL */
    size_t *first;        /* [sentences + 1]: sentence i has the rows first[i] .. first[i + 1] - 1 */
    rapt_ragged shared;   /* `first` as rapt_ragged, for cross-attention */
    bool one_each;        /* row i translates sentence i */
};

/* rapt_decoder_start for `count` sentences that are encoded together but end at different steps: states[i] gets sentence i of
 * the memory, with sizes[i]. Decode them with decoder_step_parts. After a failure all of them refuse steps. */
void decoder_start_each(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *const *states, size_t count, rapt_tensor *memory,
                        const rapt_decoder_sizes *sizes);

/* NULL if `s` was started for `m` and can take `tokens`, for which it then has memory; else the poison tensor. Tokens beyond the
 * capacity are refused later. */
rapt_tensor *decoder_state_prepare(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tokens tokens);

/* The memory that block `layer` attends to. */
rapt_decoder_memory decoder_state_memory(const rapt_decoder_state *s, size_t layer);

#endif
