/* fetch/module/download.h: downloads a URL into a file and resumes after the bytes that it has. For get.c, which checks the
 * sum. */
#ifndef FETCH_MODULE_DOWNLOAD_H
#define FETCH_MODULE_DOWNLOAD_H

#include "fetch/fetch.h"

/* Appends the bytes of `request->url` (http, https or file) that the file `part` does not have yet. Makes the file if it is
 * missing; does not follow a link at that name. Downloaded bytes stay there whatever happens. *resumed: whether the file had
 * bytes before. RAPT_ERR_NOT_FOUND: "cannot fetch URL: REASON"; RAPT_ERR_FORMAT: more bytes than the file can have, packed or
 * not; RAPT_ERR_IO: `part` cannot be written, or another process is writing it. */
rapt_code download(const fetch_request *request, const char *part, bool *resumed, rapt_error *err);

/* Removes a part that no process is writing, left by a download that was killed when its file was complete. */
void download_forget(const char *part);

#endif
