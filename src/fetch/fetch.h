/* fetch/fetch.h: public data sets and vocabularies, from where their publishers have them. For `rapt fetch`.
 * Not a general downloader: it knows the files, and takes no other bytes than theirs. */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "rapt/base.h"

typedef struct fetch_file {
    const char *name;   /* within the folder of its set */
    const char *url;    /* ends in .gz or .zip where it is packed there */
    size_t bytes;       /* these two are of the file as it is used, unpacked */
    const char *sha256; /* 64 hexadecimal digits, lower case */
} fetch_file;

typedef struct fetch_set {
    const char *name, *about; /* what it is, and the terms of its publishers */
    const fetch_file *files;
    size_t count;
} fetch_set;

#define FETCH_SET_COUNT 7
extern const fetch_set FETCH_SETS[FETCH_SET_COUNT];

/* Where a file comes from: its URL, or, with `from`, the file that the URL ends in, there. NULL: out of memory; the caller
 * frees it. */
char *fetch_url(const fetch_file *file, const char *from);

typedef struct fetch_request {
    const fetch_file *file;
    const char *url, *path; /* from where to where */
    void (*progress)(void *context, size_t bytes, size_t all); /* NULL: none; all is 0 where nobody knows */
    void *context;
} fetch_request;

typedef enum fetch_outcome { FETCH_CAME, FETCH_WAS_THERE } fetch_outcome;

/* Downloads the file, unpacks it, compares its sha256 and puts it at `path`, which it makes folders for. What is there is
 * never written over: it is right (FETCH_WAS_THERE) or an error. What came before a cut lies beside `path`, in a file of
 * the URL's name with .part, and the next call asks for the rest only; where that cannot be had, or makes another file, for
 * all of it again. A folder that it made and put nothing in goes again.
 * Errors: no connection, or none of the libraries in this build (RAPT_ERR_NOT_FOUND); another sum, more bytes than there should
 * be, or nothing that can be unpacked (RAPT_ERR_FORMAT), which forgets what came; files and folders that cannot be made or
 * written (RAPT_ERR_IO). */
RAPT_API rapt_code fetch_get(const fetch_request *request, fetch_outcome *outcome, rapt_error *err);

#endif
