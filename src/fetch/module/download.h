/* fetch/module/download.h: a URL into a file, resuming after the bytes that are there. For get.c, which checks the sum. */
#ifndef FETCH_MODULE_DOWNLOAD_H
#define FETCH_MODULE_DOWNLOAD_H

#include "fetch/fetch.h"

/* Appends what of `request->url` is not yet in the file `part` (http, https or file), which is made where it is missing; a link
 * at that name is not followed. What came stays there whatever happens. *resumed: whether bytes were there before.
 * RAPT_ERR_NOT_FOUND: "cannot fetch URL: REASON"; RAPT_ERR_FORMAT: more than the file can take, packed or not; RAPT_ERR_IO:
 * `part` cannot be written, or another process is writing it. */
rapt_code download(const fetch_request *request, const char *part, bool *resumed, rapt_error *err);

/* Removes a part that no process is writing, of a download that was killed when its file was complete. */
void download_forget(const char *part);

#endif
