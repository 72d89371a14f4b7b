/* serve/module/fingerprint.h: a number that identifies a model with everything that changes its results, so that a client can
 * tell whether two responses came from the same model. For served_load.c. */
#ifndef SERVE_MODULE_FINGERPRINT_H
#define SERVE_MODULE_FINGERPRINT_H

#include "rapt/base.h"

/* XXH3 of these bytes, as 16 hexadecimal digits: a folder's (or GGUF file's) parameter files, its configurations and tokenizers,
 * the model under a folder of adapters, `number_format`, and the `options` that change results. *created: when the newest of the
 * files was written, in seconds since 1970. Reads the files once. RAPT_ERR_NOT_FOUND, RAPT_ERR_IO, RAPT_ERR_FORMAT. */
rapt_code fingerprint_of(const char *folder, const char *number_format, const char *options, char text[17], int64_t *created,
                         rapt_error *err);

#endif
