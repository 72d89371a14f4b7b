/* io/hub/hub_special.h: the tokens that begin and end a text, from tokenizer_config.json of a Hugging Face folder. For
 * hub_model.c. */
#ifndef IO_HUB_HUB_SPECIAL_H
#define IO_HUB_HUB_SPECIAL_H

#include "io/model.h"

/* The token that ends the replies of chats: "eos_token", unless it ends texts anyway. A GGUF file has none, because its keys name
 * the ends of texts and turns. The tokenizer of *l must be loaded. */
rapt_code hub_special_end_of_turn(rapt_language_model *l, size_t vocab, const model_source *from, rapt_error *err);

/* Whether "add_bos_token" and "add_eos_token" contradict tokenizer.json, which decides, as in transformers 5. */
rapt_code hub_special_unheeded(const rapt_tokenizer *k, const model_source *from, bool unheeded[2], rapt_error *err);

#endif
