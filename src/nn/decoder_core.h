/* nn/decoder_core.h: a block in a decoding step, and what follows the last block: decoder.c, for decoder_parts.c. */
#ifndef NN_DECODER_CORE_H
#define NN_DECODER_CORE_H

#include "rapt/nn.h"
#include "rapt/transformer.h"

/* ---- attention of rows that are computed together but have different KV caches: the projections are one product, and only
 * attention to keys and values is computed part by part. For decoder_parts.c. */

/* Rows first .. first + count - 1, of one token each. */
typedef struct attention_part {
    size_t first, count;
    rapt_kv *kv;               /* KV cache of its self-attention: row i of the part has row i */
    size_t past;               /* positions that it holds */
    rapt_decoder_memory memory; /* memory of its cross-attention, with `kv` */
} attention_part;

/* rapt_causal_self_attention for each part of x [rows, 1, features]; positions[rows] are the positions of the rows. */
rapt_tensor *attention_parts_causal(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, const attention_part *parts,
                                    size_t count, const rapt_cached_row *positions);
/* Cross-attention from each part to its memory. */
rapt_tensor *attention_parts_cross(rapt_tape *t, const rapt_multi_head_attention *m, rapt_tensor *x, const attention_part *parts,
                                   size_t count);

/* ---- decoder.c: the block */

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

/* The hidden states that the output matrix multiplies, from x, the output of the last block, or of any other. */
rapt_tensor *decoder_last_norm(rapt_tape *t, const rapt_decoder *m, rapt_tensor *x);
rapt_tensor *decoder_logits(rapt_tape *t, const rapt_decoder *m, rapt_tensor *hidden);

#endif
