/* io/model_lora.h: models whose low-rank adapters are trained, and nothing else. Their folders are those of PEFT:
 * adapter_config.json and adapter_model.safetensors. For saving and checkpoints. */
#ifndef IO_MODEL_LORA_H
#define IO_MODEL_LORA_H

#include "rapt/io.h"

#include <jansson.h>

/* Adds the members of adapter_config.json to a JSON object. `path` is for messages. */
rapt_code lora_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);
/* Frees what rapt_model.lora points to; NULL is fine. */
void lora_free(void *lora);

#endif
