/* nn/attention_steps.h: attention one step after the other, each with its name; for attention.c, where somebody looks. */
#ifndef NN_ATTENTION_STEPS_H
#define NN_ATTENTION_STEPS_H

#include "rapt/nn.h"

/* Queries, keys and values as the heads see them: projected, and turned where positions are rotary. */
typedef struct attention_inputs {
    rapt_tensor *q, *k, *v;
} attention_inputs;

/* Names projections (k and v NULL: not of this pass), of one tensor by itself or two; then those that were turned. */
void attention_name_projections(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p, bool itself);
void attention_name_rotated(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p);
/* Heads, scores, weights and all that follows up to the output. */
rapt_tensor *attention_steps(rapt_tape *t, const rapt_multi_head_attention *m, attention_inputs p, const rapt_mask *mask);
/* Queries with copies of the first rows of a cache: the steps would multiply by what lies behind them. */
attention_inputs attention_filled(rapt_tape *t, rapt_tensor *q, const rapt_kv *kv, size_t rows);

#endif
