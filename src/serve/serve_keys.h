/* serve/serve_keys.h: the options of a server by name, as the command line and serve.yaml have them. For cmd_serve.c and
 * serve_config.c. */
#ifndef SERVE_SERVE_KEYS_H
#define SERVE_SERVE_KEYS_H

#include "serve/serve.h"

enum { SERVE_REASON = 256 };

/* Sets the option `name`, such as "port" or "kv-memory", from a text. RAPT_ERR_VALUE with the reason in `reason`: "'x' is not a
 * whole number from 0 to 65535"; RAPT_ERR_NOT_FOUND, with the nearest name: no such option; RAPT_ERR_MEMORY. A flag takes "true"
 * or "false"; for an option of serve_keys_is_list, each call adds a value. */
rapt_code serve_keys_set(serve_options *o, const char *name, const char *text, char reason[SERVE_REASON]);
bool serve_keys_is_list(const char *name);
/* Likewise sets an option of one model: path, source, target, weights, precision, kv-cache, slots, kv-memory. */
rapt_code serve_keys_set_model(serve_model *m, const char *name, const char *text, char reason[SERVE_REASON]);
/* Adds a model with a name and a path. RAPT_ERR_VALUE: the name is taken, or not valid: 1 to 64 characters, without spaces,
 * controls and slashes. `path` may be NULL, and is then set later. *model: the new one, valid until the next call. */
rapt_code serve_keys_add_model(serve_options *o, const char *name, const char *path, serve_model **model,
                               char reason[SERVE_REASON]);
/* Checks all options together: a key without a certificate, a model without a path, no model at all. */
rapt_code serve_keys_finish(const serve_options *o, char reason[SERVE_REASON]);

#endif
