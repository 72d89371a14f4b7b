/* fetch/module/unpack.h: what a downloaded file holds, and its sum. For get.c. */
#ifndef FETCH_UNPACK_H
#define FETCH_UNPACK_H

#include "base/file.h"

enum { SUM_TEXT = 65 };

/* Appends to `out` what `packed` holds: with .gz in `url` unpacked, with .zip the file of the last part of `name`, else as it
 * is. `sum`: the sha256 of that. RAPT_FORMAT: it cannot be unpacked. */
rapt_code unpack(const char *packed, const char *url, const char *name, file_writer *out, char sum[SUM_TEXT], rapt_error *err);

/* The sha256 of bytes. */
void sum_of(const void *data, size_t size, char sum[SUM_TEXT]);

#endif
