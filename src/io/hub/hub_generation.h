/* io/hub/hub_generation.h: the generation settings of a Hugging Face folder: generation_config.json, or else config.json. For
 * hub_model.c. */
#ifndef IO_HUB_HUB_GENERATION_H
#define IO_HUB_HUB_GENERATION_H

#include "io/model.h"

typedef struct hub_generation {
    json_t *file;         /* generation_config.json; NULL: there is none */
    char *file_path;
    const json_t *config; /* config.json */
    const char *config_path;
} hub_generation;

/* Keys of config.json that belong to a generation: they do not change logits. NULL ends them. */
extern const char *const hub_generation_keys[];

/* Reads the file, if there is one. Must be closed even after a failure. */
rapt_code hub_generation_open(hub_generation *g, const model_source *from, rapt_error *err);
void hub_generation_close(hub_generation *g);

/* The tokens of a key, a number or a list of numbers, in ids[max]; generation_config.json comes before config.json. *count 0:
 * neither names one; *there: one of the files has the key, even if it is null. Tokens not below `vocab`, and more than `max`
 * tokens, are refused. */
rapt_code hub_generation_ids(const hub_generation *g, const char *key, size_t vocab, int32_t *ids, size_t max, size_t *count,
                             bool *there, rapt_error *err);

/* Reads the settings of searches and sampling. Settings that would change the result in a way that rapt does not compute are
 * refused by name. The policy must be freed, even after a failure. */
rapt_code hub_generation_policy(const hub_generation *g, size_t vocab, rapt_search_policy *p, rapt_error *err);
/* Refuses further settings that a translator does not support: sampling, and lengths at which nothing is translated. */
rapt_code hub_generation_check_translator(const hub_generation *g, rapt_error *err);
void hub_generation_policy_free(rapt_search_policy *p);

#endif
