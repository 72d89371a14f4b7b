/* io/hub/hub_config.h: reads config.json of a Hugging Face model: values with the defaults of its class, and what is left over. A
 * key that nobody has asked for could change what the model computes, so it is refused. For the families. */
#ifndef IO_HUB_HUB_CONFIG_H
#define IO_HUB_HUB_CONFIG_H

#include "rapt/base.h"

#include <jansson.h>

enum { HUB_MAX_KEYS = 256 };

/* `code` is that of the first failure, which `err` tells of; the functions below do nothing from then on. */
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
/* A whole number from 1 to 2^30; `otherwise` where it is missing, 0: it must be there. */
size_t hub_size(hub_config *c, const char *key, size_t otherwise);
double hub_number(hub_config *c, const char *key, double otherwise);
/* A number from `low` to `high`. */
double hub_within(hub_config *c, const char *key, double otherwise, double low, double high);
bool hub_flag(hub_config *c, const char *key, bool otherwise);
const char *hub_word(hub_config *c, const char *key, const char *otherwise);

/* Fails where a flag has another value than the one that rapt computes. */
void hub_flag_is(hub_config *c, const char *key, bool wanted, bool otherwise);
/* "PATH: "KEY" is VALUE: REASON" */
void hub_refuse(hub_config *c, const char *key, const char *reason);
/* These do not change what a model computes: they count as seen. NULL ends them. */
void hub_ignore(hub_config *c, const char *const *keys);
/* Fails for a key that nobody has seen and that is not null. */
void hub_refuse_others(hub_config *c);

#endif
