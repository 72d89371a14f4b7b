/* nn/attentions.h: the attentions of a model, in the order of their blocks. For code that treats each of them, such as
 * io/model_heads.c. */
#ifndef NN_ATTENTIONS_H
#define NN_ATTENTIONS_H

#include "rapt/lm.h"

/* Called for each attention; false ends the walk. */
typedef bool attentions_fn(void *context, rapt_multi_head_attention *a);

/* Calls fn for the self-attention of each block, and in a decoder also for its cross-attention. Returns whether fn returned true
 * for all. */
bool attentions_of_lm(const rapt_lm *m, attentions_fn *fn, void *context);
bool attentions_of_encoder(const rapt_encoder *m, attentions_fn *fn, void *context);
bool attentions_of_transformer(const rapt_transformer *m, attentions_fn *fn, void *context);

#endif
