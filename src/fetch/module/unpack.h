/* fetch/module/unpack.h: what a downloaded file holds, and its sum. For get.c. */
#ifndef FETCH_MODULE_UNPACK_H
#define FETCH_MODULE_UNPACK_H

#include "base/file.h"
#include "fetch/fetch.h"

enum { SUM_TEXT = 65 };

/* Appends to `out` what `packed`, which came from `r->url`, holds: where that ends in .gz unpacked, in .zip the file of the last
 * part of `r->file->name`, else as it is. `sum`: the sha256 of that. RAPT_ERR_FORMAT: it cannot be unpacked, or is larger than
 * the file. */
rapt_code unpack(const char *packed, const fetch_request *r, file_writer *out, char sum[SUM_TEXT], rapt_error *err);

/* The sha256 of bytes. */
void sum_of(const void *data, size_t size, char sum[SUM_TEXT]);

#endif
