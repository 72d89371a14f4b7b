/* io/hub/hub_sentence.h: the settings of sentence-transformers in a Hugging Face folder: how the vectors of a text's tokens are
 * pooled, the length to which texts are truncated, and prompts before them. For hub_embedding.c. */
#ifndef IO_HUB_HUB_SENTENCE_H
#define IO_HUB_HUB_SENTENCE_H

#include "rapt/io.h"

/* Reads modules.json, and the files that it names, into *e, whose max_len must be set; `net` is its configuration. Without
 * modules.json nothing changes. RAPT_ERR_FORMAT: a module, a kind of pooling or a key that rapt does not compute; the message
 * names the file. */
rapt_code hub_sentence_load(rapt_encoder_model *e, const rapt_transformer_config *net, const char *folder, rapt_error *err);

/* Reads the files of a cross-encoder, whose modules.json, if there is one, has a Transformer alone; the function of its logits,
 * and prompts, which rapt does not put before pairs, are in config_sentence_transformers.json. */
rapt_code hub_sentence_load_pairs(rapt_encoder_model *e, const rapt_transformer_config *net, const char *folder, rapt_error *err);

/* Whether a folder has modules.json: it is of an embedder. */
bool hub_sentence_is_there(const char *folder);

#endif
