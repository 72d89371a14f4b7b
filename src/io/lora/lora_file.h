/* io/lora/lora_file.h: adapter_model.safetensors of a model whose adapters are trained, with PEFT's tensors; the B of a joint
 * module is assembled from its layers. For model.c and training. */
#ifndef IO_LORA_LORA_FILE_H
#define IO_LORA_LORA_FILE_H

#include "io/safetensors.h"
#include "rapt/io.h"

/* Writes the adapters to `path`, with `text` under `key` in the metadata. */
rapt_code lora_file_save(const rapt_model *m, const char *path, const char *key, const char *text, rapt_error *err);

/* Whether a file is exactly what lora_file_save would write; also false if memory runs out. */
bool lora_file_is_same(const rapt_model *m, const safetensors *file);

#endif
