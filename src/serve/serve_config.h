/* serve/serve_config.h: serve.yaml, a server's options in a file. For cmd_serve.c. */
#ifndef SERVE_SERVE_CONFIG_H
#define SERVE_SERVE_CONFIG_H

#include "serve/serve.h"

/* Reads keys with the names of the options of `rapt serve`, and "models":
 *
 *     port: 8080
 *     cors: [https://example.org]
 *     models:
 *       en-fr: models/en-fr
 *       gpt2: {path: models/gpt2, weights: q8_0, slots: 4}
 *
 * Sets the options that the file has, and adds the models. Relative paths begin at the current folder, as everywhere.
 * RAPT_ERR_FORMAT, RAPT_ERR_VALUE: "PATH:LINE: REASON". */
rapt_code serve_config_read(serve_options *o, const char *path, rapt_error *err);

#endif
