/* io/hub/hub_config.h: reads config.json of a Hugging Face model: values with the defaults of its class. Keys that were not read
 * are refused, because they could change what the model computes. For the families. */
#ifndef IO_HUB_HUB_CONFIG_H
#define IO_HUB_HUB_CONFIG_H

#include "rapt/base.h"

#include <jansson.h>

enum { HUB_MAX_KEYS = 256 };

/* `code` is the first failure, which `err` describes; afterwards the functions below do nothing. */
typedef struct hub_config {
    const json_t *root;
    const char *path; /* for messages */
    rapt_error *err;
    rapt_code code;
    const char *seen[HUB_MAX_KEYS];
    size_t count;
} hub_config;

/* The value of a key, which counts as seen; NULL: missing or null. */
const json_t *hub_value(hub_config *c, const char *key);
/* A whole number from 1 to 2^30; `otherwise` if it is missing; with `otherwise` 0 it must be there. */
size_t hub_size(hub_config *c, const char *key, size_t otherwise);
double hub_number(hub_config *c, const char *key, double otherwise);
/* A number from `low` to `high`. */
double hub_within(hub_config *c, const char *key, double otherwise, double low, double high);
bool hub_flag(hub_config *c, const char *key, bool otherwise);
const char *hub_word(hub_config *c, const char *key, const char *otherwise);

/* Fails if a flag has another value than rapt computes. */
void hub_flag_is(hub_config *c, const char *key, bool wanted, bool otherwise);
/* "PATH: "KEY" is VALUE: REASON" */
void hub_refuse(hub_config *c, const char *key, const char *reason);
/* Marks keys as seen that do not change what a model computes; NULL ends the list. */
void hub_ignore(hub_config *c, const char *const *keys);
/* Keys of all types that do not change logits, for hub_ignore. */
extern const char *const hub_inert_keys[];
/* Fails for a key that was not seen and is not null. */
void hub_refuse_others(hub_config *c);

#endif
