/* ops/attention_rows.h: attention of rows of one query, each with its own keys and values: decoding steps of sentences that began
 * at different times. For nn/attention.c. */
#ifndef OPS_ATTENTION_ROWS_H
#define OPS_ATTENTION_ROWS_H

#include "ops/attention_panels.h"

/* The `keys` keys that a row attends to. */
typedef struct attention_query {
    const rapt_real *k, *v;         /* [keys, key-value heads * d], rows without gaps */
    size_t keys;
    const attention_panels *panels; /* that k and v were packed to, as this example; or NULL */
    size_t example;
} attention_query;

/* Whether attention_rows_forward can compute attention with heads of d features on this tape: plain scores, no dropout, no
 * captured weights, no observer. All other attention is for rapt_op_attention. */
bool attention_rows_fit(const rapt_tape *t, size_t d, const rapt_attention_scores *scores);

/* rapt_op_attention for q [rows, 1, heads * d], bit for bit; gives the shape of q. `of` [rows]. kv_heads must divide
 * heads, which is not checked. Inference only. */
rapt_tensor *attention_rows_forward(rapt_tape *t, rapt_tensor *q, const attention_query *of, size_t heads, size_t kv_heads,
                                    const rapt_attention_scores *scores);

#endif
