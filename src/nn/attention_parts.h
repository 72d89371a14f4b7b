/* nn/attention_parts.h: attention of rows that are computed together but have different KV caches: the projections are one
 * product, and only attention to keys and values is computed part by part. For decoder_parts.c. */
#ifndef NN_ATTENTION_PARTS_H
#define NN_ATTENTION_PARTS_H

#include "rapt/nn.h"

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

#endif
