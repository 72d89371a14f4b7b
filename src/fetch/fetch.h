/* fetch/fetch.h: downloads public data sets and vocabularies from their publishers. For `rapt fetch`. Not a general downloader:
 * it knows the files, and accepts only their bytes. */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "rapt/base.h"

typedef struct fetch_file {
    const char *name;   /* within the folder of its set */
    const char *url;    /* ends in .gz or .zip if the file is packed there */
    size_t bytes;       /* size and sha256 of the unpacked file */
    const char *sha256; /* 64 hexadecimal digits, lower case */
} fetch_file;

typedef struct fetch_set {
    const char *name, *about; /* description of the file, and the terms of its publishers */
    const fetch_file *files;
    size_t count;
} fetch_set;

#define FETCH_SET_COUNT 7
#define FETCH_SET_NAMES "multi30k, tiny-shakespeare, fra-eng, sales-textbook, cl100k_base, o200k_base, r50k_base"
extern const fetch_set FETCH_SETS[FETCH_SET_COUNT];

/* The source of a file: its URL or, with `from`, the last component of the URL in `from`. The caller frees it; NULL: out of
 * memory. */
char *fetch_url(const fetch_file *file, const char *from);

typedef struct fetch_request {
    const fetch_file *file;
    const char *url, *path; /* source and destination */
    void (*progress)(void *context, size_t bytes, size_t all); /* may be NULL; `all` is 0 if it is unknown */
    void *context;
} fetch_request;

typedef enum fetch_outcome { FETCH_CAME, FETCH_WAS_THERE } fetch_outcome;

/* Downloads the file, unpacks it, compares its sha256 and puts it at `path`; makes the folders of `path`. An existing file is
 * never overwritten: it is right (FETCH_WAS_THERE), or an error. If a download is interrupted, its bytes stay in the folder of
 * `path`, in a file with the URL's name and .part, and the next call asks only for the rest; if the server cannot give that, or
 * the result is another file, the next call downloads everything again. New folders that stay empty are removed. Errors:
 * RAPT_ERR_NOT_FOUND: no connection, or this build has no libraries for it; RAPT_ERR_FORMAT: another sum, too many bytes, or a
 * file that cannot be unpacked; the downloaded bytes are then removed; RAPT_ERR_IO: files and folders that cannot be made or
 * written. */
RAPT_API rapt_code fetch_get(const fetch_request *request, fetch_outcome *outcome, rapt_error *err);

#endif
