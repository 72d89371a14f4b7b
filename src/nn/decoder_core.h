/* nn/decoder_core.h: a block in a decoding step, and what follows the last block: decoder.c, for decoder_parts.c. */
#ifndef NN_DECODER_CORE_H
#define NN_DECODER_CORE_H

#include "nn/attention_parts.h"
#include "rapt/transformer.h"

/* What the rows of a block attend to. */
typedef struct decoder_reads {
    rapt_decoder_memory memory; /* of cross-attention */
    rapt_kv *kv;                /* of self-attention, as in rapt_decoder_block_forward; NULL: whole rows */
    size_t past;
    const attention_part *parts; /* [count] in place of the above: batches at different positions; or NULL */
    size_t count;
    const rapt_cached_row *positions; /* of each row, with `parts` */
} decoder_reads;

/* A block whose rows read and extend KV caches: it is never recomputed. */
rapt_tensor *decoder_block_step(rapt_tape *t, const rapt_decoder_block *m, rapt_tensor *x, decoder_reads reads);

/* The hidden states that the output matrix multiplies, from the output of the last block. */
rapt_tensor *decoder_last_norm(rapt_tape *t, const rapt_decoder *m, rapt_tensor *x);
rapt_tensor *decoder_logits(rapt_tape *t, const rapt_decoder *m, rapt_tensor *hidden);

#endif
