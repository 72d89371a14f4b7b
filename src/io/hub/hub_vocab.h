/* io/hub/hub_vocab.h: BERT's tokenizer of a Hugging Face folder that has it as vocab.txt, without tokenizer.json. For
 * hub_embedding.c. */
#ifndef IO_HUB_HUB_VOCAB_H
#define IO_HUB_HUB_VOCAB_H

#include "rapt/text.h"

/* The tokenizer that BertTokenizer makes of vocab.txt, one token a line, and the settings of tokenizer_config.json. NULL with
 * `err` set; what would change ids and is not known is refused by name. */
rapt_tokenizer *hub_vocab_load(const char *folder, rapt_error *err);

#endif
