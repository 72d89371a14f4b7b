/* cli/info_hub.h: what `rapt info` says of a Hugging Face folder that rapt runs, besides its files. For info_weights.c. */
#ifndef CLI_INFO_HUB_H
#define CLI_INFO_HUB_H

#include "io/hub/hub_model.h"

/* Sizes, tokenizer, special ids, memory, and where rapt does not do what generate() of transformers does. `s` has a model. */
void info_hub_print(const hub_summary *s);
/* The same as members of an object. False: out of memory. */
bool info_hub_add_json(const hub_summary *s, json_t *o);

#endif
