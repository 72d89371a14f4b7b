/* base/posix/posix_memory_stream.c: POSIX has streams to memory. */
#define _GNU_SOURCE
#include "base/memory_stream.h"

#include <stdlib.h>

FILE *memory_stream_open(memory_stream *m)
{
    *m = (memory_stream){0};
    m->to = open_memstream(&m->text, &m->size);
    return m->to;
}

bool memory_stream_close(memory_stream *m)
{
    bool whole = m->to && !ferror(m->to);
    whole = m->to && fclose(m->to) == 0 && whole;
    if (!whole) {
        free(m->text);
        m->text = NULL;
        m->size = 0;
    }
    m->to = NULL;
    return whole;
}
