/* serve/module/fingerprint.h: a number that stands for a model as it computes, so that two responses can be told to be of the
 * same one: where results differ, it does. For served_load.c. */
#ifndef SERVE_MODULE_FINGERPRINT_H
#define SERVE_MODULE_FINGERPRINT_H

#include "rapt/base.h"

/* XXH3 of the bytes of a folder's (or GGUF file's) parameter files, of its configurations and tokenizers, of what a folder of
 * adapters stands on, of `number_format`, and of the `options` that count for results, as 16 hexadecimal digits. *created: when
 * the newest of the files was written, in seconds since 1970. Reads the files once. RAPT_ERR_NOT_FOUND, RAPT_ERR_IO,
 * RAPT_ERR_FORMAT. */
rapt_code fingerprint_of(const char *folder, const char *number_format, const char *options, char text[17], int64_t *created,
                         rapt_error *err);

#endif
