/* io/hub/hub_embedding.h: encoders of Hugging Face folders as models of RAPT_TASK_ENCODER. For hub_model.c. */
#ifndef IO_HUB_HUB_EMBEDDING_H
#define IO_HUB_HUB_EMBEDDING_H

#include "io/config_block.h"
#include "io/hub/hub_family.h"
#include "io/model.h"
#include "io/weights/weights.h"

/* The encoder as far as checks of its sizes need it. */
config_stack hub_embedding_stack(const rapt_transformer_config *k);

/* Loads the tokenizer, and what is done with the vectors of its tokens. */
rapt_code hub_embedding_load_text(rapt_model *m, const hub_family *family, const rapt_transformer_config *k,
                                  const model_source *from, rapt_error *err);

/* Fills a model that has its text, and whose tensors have the right names and shapes. */
rapt_code hub_embedding_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                             const model_source *from, rapt_error *err);

#endif
