/* io/export/export_gguf.h: a language model as a GGUF file that llama.cpp runs. For rapt_model_export. */
#ifndef IO_EXPORT_EXPORT_GGUF_H
#define IO_EXPORT_EXPORT_GGUF_H

#include "rapt/io.h"

/* Settings, the tokenizer and the names of tensors are checked before the file is begun. */
rapt_code export_gguf(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err);

#endif
