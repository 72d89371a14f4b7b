/* io/lora/model_lora.h: models of which only the low-rank adapters are trained. Their folders are PEFT's: adapter_config.json and
 * adapter_model.safetensors. For saving and checkpoints. */
#ifndef IO_LORA_MODEL_LORA_H
#define IO_LORA_MODEL_LORA_H

#include "io/lora/lora_modules.h"

/* The struct that rapt_model.lora points to. */
typedef struct lora_setup {
    rapt_lora_options o;
    char *base;
    lora_modules modules; /* all that the model has; those that are chosen have adapters */
} lora_setup;

/* Adds the members of adapter_config.json to a JSON object. `path` is for messages. */
rapt_code lora_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err);
/* Frees rapt_model.lora; NULL is fine. */
void lora_free(void *lora);

#endif
