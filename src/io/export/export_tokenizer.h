/* io/export/export_tokenizer.h: every kind of tokenizer of rapt as the tokenizer.json of a Hugging Face folder, with which
 * `tokenizers` gives the same ids. For the writer of such folders. */
#ifndef IO_EXPORT_EXPORT_TOKENIZER_H
#define IO_EXPORT_EXPORT_TOKENIZER_H

#include "rapt/text.h"

#include <jansson.h>

/* The contents of tokenizer.json. `end`: a token that follows every text, -1: none. NULL with `err` set: out of memory, or the
 * tokenizer has no such form (RAPT_ERR_VALUE). `path` is for messages. */
json_t *export_tokenizer(const rapt_tokenizer *k, int32_t end, const char *path, rapt_error *err);
/* The contents of tokenizer_config.json: for a translator with the names of its special tokens, else with the name of the token
 * that ends a text, -1: none. NULL: out of memory. */
json_t *export_tokenizer_config(const rapt_tokenizer *k, size_t max_length, bool specials, int32_t end);

#endif
