/* nn/layers.h: the linear layers of a model's blocks, in the order of their parameters. For code that treats each of them:
 * packing and adapters. */
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "rapt/lm.h"

/* Called for each layer; false ends the walk. */
typedef bool layers_fn(void *context, rapt_linear *l);

/* Calls fn for the attention projections and the feed-forward layers of each block, but not for embeddings and the output matrix.
 * Returns whether fn returned true for all. */
bool layers_of_lm(const rapt_lm *m, layers_fn *fn, void *context);
bool layers_of_encoder(const rapt_encoder *m, layers_fn *fn, void *context);
bool layers_of_transformer(const rapt_transformer *m, layers_fn *fn, void *context);

#endif
