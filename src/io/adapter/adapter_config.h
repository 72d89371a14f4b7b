/* io/adapter/adapter_config.h: adapter_config.json, as PEFT writes it. For the reader of adapters. */
#ifndef IO_ADAPTER_CONFIG_H
#define IO_ADAPTER_CONFIG_H

#include "rapt/base.h"

#include "io/adapter/adapter_pattern.h"

typedef struct adapter_config {
    size_t rank;
    double alpha;
    bool rslora, dora, tying;
    adapter_patterns ranks, alphas; /* of some modules */
    const json_t *saved; /* "modules_to_save", borrowed: names; NULL: none */
    const char *base; /* borrowed from the JSON; "" if there is none */
} adapter_config;

/* `path` is for messages. RAPT_ERR_VALUE: a key that rapt does not compute, or does not know (the message names it);
 * RAPT_ERR_FORMAT: a value of another kind. adapter_config_end frees *c, even after a failure. */
rapt_code adapter_config_read(const json_t *root, const char *path, adapter_config *c, rapt_error *err);

/* Whether a module, `length` bytes, may be among the modules that are saved whole: it has the name, or an end of it after a dot;
 * or it could be tied to one that has. */
bool adapter_config_saves(const adapter_config *c, const char *module, size_t length);
void adapter_config_end(adapter_config *c);

/* The values of "rank_pattern" and "alpha_pattern". */
extern const adapter_pattern_kind adapter_rank_pattern, adapter_alpha_pattern;

#endif
