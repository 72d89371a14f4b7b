/* fetch/module/unpack.h: unpacks a downloaded file and computes its sum. For get.c. */
#ifndef FETCH_MODULE_UNPACK_H
#define FETCH_MODULE_UNPACK_H

#include "base/file.h"
#include "fetch/fetch.h"

enum { SUM_TEXT = 65 };

/* Appends to `out` the contents of `packed`, which came from `r->url`: unpacked if the URL ends in .gz; if it ends in .zip, the
 * file with the last component of `r->file->name`; else unchanged. `sum` gets the sha256 of the contents. RAPT_ERR_FORMAT: it
 * cannot be unpacked, or is larger than the file. */
rapt_code unpack(const char *packed, const fetch_request *r, file_writer *out, char sum[SUM_TEXT], rapt_error *err);

/* The sha256 of bytes. */
void sum_of(const void *data, size_t size, char sum[SUM_TEXT]);

#endif
