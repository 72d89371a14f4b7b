/* cli/info_hub.h: the facts that `rapt info` prints about a Hugging Face folder that rapt runs, besides its files. For
 * info_weights.c. */
#ifndef CLI_INFO_HUB_H
#define CLI_INFO_HUB_H

#include "io/hub/hub_model.h"

/* Prints sizes, tokenizer, special ids, memory, and the ways in which rapt differs from generate() of transformers. `s` has a
 * model. */
void info_hub_print(const hub_summary *s);
/* Adds the same facts as members of an object. False: out of memory. */
bool info_hub_add_json(const hub_summary *s, json_t *o);

#endif
