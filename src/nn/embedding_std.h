/* nn/embedding_std.h: the standard deviation of initial embeddings where a configuration leaves it to the model (0). For the
 * modules that have embeddings. */
#ifndef NN_EMBEDDING_STD_H
#define NN_EMBEDDING_STD_H

#include "rapt/lm.h"

double embedding_std_of_transformer(const rapt_transformer_config *c);
/* c->std is set already. */
double embedding_std_of_lm(const rapt_lm_config *c);

#endif
