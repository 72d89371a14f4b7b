/* base/memory_stream.h: a FILE whose text stays in memory, for functions that print to a FILE. What only appends bytes takes a
 * buffer (base/buffer.h). */
#ifndef BASE_MEMORY_STREAM_H
#define BASE_MEMORY_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* It must not move before it is closed. Zeroed: closed, without a text. */
typedef struct memory_stream {
    FILE *to;    /* NULL: closed, or never opened */
    char *text;  /* after memory_stream_close: `size` bytes and a NUL, which the caller frees */
    size_t size;
} memory_stream;

/* Returns m->to; NULL: out of memory. */
FILE *memory_stream_open(memory_stream *m);
/* False: something was lost, or it was never opened. Then there is no text. */
bool memory_stream_close(memory_stream *m);

#endif
