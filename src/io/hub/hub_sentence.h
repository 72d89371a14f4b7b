/* io/hub/hub_sentence.h: the settings of sentence-transformers in a Hugging Face folder: what becomes of the vectors of a text's
 * tokens, how long texts are cut, and what is put before them. For hub_embedding.c. */
#ifndef IO_HUB_HUB_SENTENCE_H
#define IO_HUB_HUB_SENTENCE_H

#include "rapt/io.h"

/* Reads modules.json, and what it and its kin name, into *e, whose max_len is set; `net` is its configuration. Without
 * modules.json nothing changes. RAPT_ERR_FORMAT: a module, a kind of pooling or a key that rapt does not compute, naming the
 * file. */
rapt_code hub_sentence_load(rapt_encoder_model *e, const rapt_transformer_config *net, const char *folder, rapt_error *err);

/* Whether a folder has modules.json: it is of an embedder. */
bool hub_sentence_is_there(const char *folder);

#endif
