/* io/export/export_gguf_tokenizer.h: the tokenizer of a language model as keys of a GGUF file, with which llama.cpp gives the
 * same ids, and its chat template. For the writer of GGUF files. */
#ifndef IO_EXPORT_EXPORT_GGUF_TOKENIZER_H
#define IO_EXPORT_EXPORT_GGUF_TOKENIZER_H

#include "io/gguf/gguf_write.h"
#include "rapt/io.h"

/* As many tokens as the model has rows: those that it lacks are unused. RAPT_ERR_VALUE: llama.cpp has no such tokenizer (the
 * message says why); RAPT_ERR_MEMORY. `path` is for messages. */
rapt_code export_gguf_tokenizer(gguf_keys *keys, const rapt_model *m, const char *path, rapt_error *err);

#endif
