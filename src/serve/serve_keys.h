/* serve/serve_keys.h: the options of a server by name, as the command line and serve.yaml have them. For cmd_serve.c and
 * serve_config.c. */
#ifndef SERVE_SERVE_KEYS_H
#define SERVE_SERVE_KEYS_H

#include "serve/serve.h"

enum { SERVE_REASON = 256 };

/* Sets the option that is called "port" or "kv-memory" from a text. RAPT_ERR_VALUE with why not in `reason`: "'x' is not a whole
 * number from 0 to 65535"; RAPT_ERR_NOT_FOUND, with the nearest name: there is none; RAPT_ERR_MEMORY. A flag takes "true" or
 * "false"; one of serve_keys_is_list adds a value each time. */
rapt_code serve_keys_set(serve_options *o, const char *name, const char *text, char reason[SERVE_REASON]);
bool serve_keys_is_list(const char *name);
/* The same of one model: path, source, target, weights, precision, kv-cache, slots, kv-memory. */
rapt_code serve_keys_set_model(serve_model *m, const char *name, const char *text, char reason[SERVE_REASON]);
/* Adds a model of a name and path. RAPT_ERR_VALUE: the name is taken, or none: 1 to 64 characters, without spaces, controls and
 * slashes. `path` may be NULL, to be set. *model: the new one, valid until the next call. */
rapt_code serve_keys_add_model(serve_options *o, const char *name, const char *path, serve_model **model,
                               char reason[SERVE_REASON]);
/* What is wrong with all of them together: a key without a certificate, a model without path, none at all. */
rapt_code serve_keys_finish(const serve_options *o, char reason[SERVE_REASON]);

#endif
