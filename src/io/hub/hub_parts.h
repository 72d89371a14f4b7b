/* io/hub/hub_parts.h: the tasks of Hugging Face folders besides language models, special tokens, and BERT's tokenizer. For
 * hub_model.c. */
#ifndef IO_HUB_HUB_PARTS_H
#define IO_HUB_HUB_PARTS_H

#include "io/config_block.h"
#include "io/hub/hub_family.h"
#include "io/model.h"
#include "io/weights/weights.h"
#include "rapt/text.h"

/* ---- hub_embedding.c: encoders of Hugging Face folders as models of RAPT_TASK_ENCODER. */

/* The encoder as far as checks of its sizes need it. */
config_stack hub_embedding_stack(const rapt_transformer_config *k);

/* Loads the tokenizer, and what is done with the vectors of its tokens. */
rapt_code hub_embedding_load_text(rapt_model *m, const hub_family *family, const rapt_transformer_config *k,
                                  const model_source *from, rapt_error *err);

/* Fills a model that has its text, and whose tensors have the right names and shapes. */
rapt_code hub_embedding_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                             const model_source *from, rapt_error *err);

/* ---- hub_special.c: the tokens that begin and end a text, from tokenizer_config.json of a Hugging Face folder. */

/* The token that ends the replies of chats: "eos_token", unless it ends texts anyway. A GGUF file has none, because its keys name
 * the ends of texts and turns. The tokenizer of *l must be loaded. */
rapt_code hub_special_end_of_turn(rapt_language_model *l, size_t vocab, const model_source *from, rapt_error *err);

/* Whether "add_bos_token" and "add_eos_token" contradict tokenizer.json, which decides, as in transformers 5. */
rapt_code hub_special_unheeded(const rapt_tokenizer *k, const model_source *from, bool unheeded[2], rapt_error *err);

/* ---- hub_translation.c: encoder-decoders of Hugging Face folders as translation models. */

/* Whether the sizes of a configuration fit together: RAPT_ERR_FORMAT. `path` is for messages. */
rapt_code hub_translation_check(const rapt_transformer_config *k, const char *path, rapt_error *err);

/* Tokenizers, special tokens, and how the folder decodes. */
rapt_code hub_translation_load_text(rapt_model *m, const rapt_transformer_config *k, const model_source *from, rapt_error *err);

/* Fills a model that has its text, and whose tensors have the right names and shapes. */
rapt_code hub_translation_load(rapt_model *m, const hub_family *family, const rapt_transformer_config *k, const weights *w,
                               const model_source *from, rapt_error *err);

/* ---- hub_vocab.c: BERT's tokenizer of a Hugging Face folder that has it as vocab.txt, without tokenizer.json. For
 * hub_embedding.c. */

/* The tokenizer that BertTokenizer makes from vocab.txt, one token per line, and the settings of tokenizer_config.json. NULL with
 * `err` set; unknown settings that would change ids are refused by name. */
rapt_tokenizer *hub_vocab_load(const char *folder, rapt_error *err);

#endif
