/* io/adapter/adapter_config.h: adapter_config.json, as PEFT writes it. For the reader of adapters. */
#ifndef IO_ADAPTER_CONFIG_H
#define IO_ADAPTER_CONFIG_H

#include "rapt/base.h"

#include <jansson.h>

typedef struct adapter_config {
    size_t rank;
    double alpha;
    const char *base; /* borrowed from the JSON; "" if there is none */
} adapter_config;

/* `path` is for messages. RAPT_ERR_VALUE: a key that rapt does not compute, or does not know (the message names it);
 * RAPT_ERR_FORMAT: a value of another kind. */
rapt_code adapter_config_read(const json_t *root, const char *path, adapter_config *c, rapt_error *err);

#endif
