/* fetch/module/get_parts.h: what get.c does with a file: downloads it and unpacks it. */
#ifndef FETCH_MODULE_GET_PARTS_H
#define FETCH_MODULE_GET_PARTS_H

#include "base/file.h"
#include "fetch/fetch.h"

/* ---- download.c: downloads a URL into a file and resumes after the bytes that it has. For get.c, which checks the sum. */

/* Appends the bytes of `request->url` (http, https or file) that the file `part` does not have yet. Makes the file if it is
 * missing; does not follow a link at that name. Downloaded bytes stay there whatever happens. *resumed: whether the file had
 * bytes before. RAPT_ERR_NOT_FOUND: "cannot fetch URL: REASON"; RAPT_ERR_FORMAT: more bytes than the file can have, packed or
 * not; RAPT_ERR_IO: `part` cannot be written, or another process is writing it. */
rapt_code download(const fetch_request *request, const char *part, bool *resumed, rapt_error *err);

/* Removes a part that no process is writing, left by a download that was killed when its file was complete. */
void download_forget(const char *part);

/* ---- unpack.c: unpacks a downloaded file and computes its sum. */

enum { SUM_TEXT = 65 };

/* Appends to `out` the contents of `packed`, which came from `r->url`: unpacked if the URL ends in .gz; if it ends in .zip, the
 * file with the last component of `r->file->name`; else unchanged. `sum` gets the sha256 of the contents. RAPT_ERR_FORMAT: it
 * cannot be unpacked, or is larger than the file. */
rapt_code unpack(const char *packed, const fetch_request *r, file_writer *out, char sum[SUM_TEXT], rapt_error *err);

/* The sha256 of bytes. */
void sum_of(const void *data, size_t size, char sum[SUM_TEXT]);

#endif
