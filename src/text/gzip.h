/* text/gzip.h: expands gzip files (RFC 1952) of one member or of several, as `cat a.gz b.gz` makes them. For readers of texts.
 * Not for writing. */
#ifndef TEXT_GZIP_H
#define TEXT_GZIP_H

#include "rapt/base.h"

/* Whether a file begins as gzip's do; no text of UTF-8 begins so. Two bytes tell. */
bool gzip_begins(const char *bytes, size_t size);

typedef struct gzip_stream gzip_stream;

/* NULL with `err` set: out of memory. */
gzip_stream *gzip_open(rapt_error *err);
void gzip_close(gzip_stream *g); /* NULL is fine */

/* Bytes of the file that are there. */
typedef struct gzip_input {
    const char *at;
    size_t size;
    bool last; /* no more bytes follow */
} gzip_input;

/* Expands into out[0 .. capacity) and moves `in` on. *got: the number of bytes written; 0 if it needs more input, and at the end.
 * RAPT_ERR_FORMAT, "NAME: ...": damaged, truncated, or followed by other bytes. */
rapt_code gzip_next(gzip_stream *g, gzip_input *in, const char *name, char *out, size_t capacity, size_t *got, rapt_error *err);

#endif
