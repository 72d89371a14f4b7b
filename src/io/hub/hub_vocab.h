/* io/hub/hub_vocab.h: BERT's tokenizer of a Hugging Face folder that has it as vocab.txt, without tokenizer.json. For
 * hub_embedding.c. */
#ifndef IO_HUB_HUB_VOCAB_H
#define IO_HUB_HUB_VOCAB_H

#include "rapt/text.h"

/* The tokenizer that BertTokenizer makes from vocab.txt, one token per line, and the settings of tokenizer_config.json. NULL with
 * `err` set; unknown settings that would change ids are refused by name. */
rapt_tokenizer *hub_vocab_load(const char *folder, rapt_error *err);

#endif
