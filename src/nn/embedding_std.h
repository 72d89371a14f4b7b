/* nn/embedding_std.h: the standard deviation of initial embeddings if a configuration leaves it to the model (0), and a model's
 * input made with it. For the modules that have embeddings. */
#ifndef NN_EMBEDDING_STD_H
#define NN_EMBEDDING_STD_H

#include "rapt/lm.h"

double embedding_std_of_transformer(const rapt_transformer_config *c);
double embedding_std_of_lm(const rapt_lm_config *c);

/* The preprocessor of an encoder, a decoder or a language model. `shared` is the embedding matrix of another module, or NULL. */
rapt_preprocessor_options embedding_std_input_of_transformer(const rapt_transformer_config *c, rapt_param *shared);
rapt_preprocessor_options embedding_std_input_of_lm(const rapt_lm_config *c);

#endif
