/* io/hub/hub_translation.h: encoder-decoders of Hugging Face folders as translation models. For hub_model.c. */
#ifndef IO_HUB_HUB_TRANSLATION_H
#define IO_HUB_HUB_TRANSLATION_H

#include "io/hub/hub_family.h"
#include "io/model.h"
#include "io/weights/weights.h"

/* Whether the sizes of a configuration fit together: RAPT_ERR_FORMAT. `path` is for messages. */
rapt_code hub_translation_check(const rapt_transformer_config *k, const char *path, rapt_error *err);

/* Tokenizers, special tokens, and how the folder decodes. */
rapt_code hub_translation_load_text(rapt_model *m, const rapt_transformer_config *k, const model_source *from, rapt_error *err);

/* Fills a model that has its text, and whose tensors have the right names and shapes. */
rapt_code hub_translation_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                               const model_source *from, rapt_error *err);

#endif
