/* text/gzip.c: zlib inflates one member; this goes from one to the next. */
#include "text/gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { OF_GZIP = 16 + MAX_WBITS, MAX_STEP = 1 << 30 };

struct gzip_stream {
    z_stream z;
    bool between; /* between two members, or after the last one */
};

bool gzip_begins(const char *bytes, size_t size)
{
    return size >= 2 && (unsigned char)bytes[0] == 0x1F && (unsigned char)bytes[1] == 0x8B;
}

gzip_stream *gzip_open(rapt_error *err)
{
    gzip_stream *g = calloc(1, sizeof *g);
    if (g && inflateInit2(&g->z, OF_GZIP) == Z_OK)
        return g;
    free(g);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to expand a gzip file");
    return NULL;
}

void gzip_close(gzip_stream *g)
{
    if (g)
        inflateEnd(&g->z);
    free(g);
}

/* After a member: skips zeros that fill a block of a tape, as gzip does. */
static rapt_code begin_member(gzip_stream *g, gzip_input *in, const char *name, rapt_error *err)
{
    while (in->size > 0 && *in->at == '\0')
        in->at++, in->size--;
    if (in->size == 0)
        return RAPT_OK;
    if ((unsigned char)*in->at != 0x1F)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: something follows the end of the gzip file", name);
    inflateReset(&g->z);
    g->between = false;
    return RAPT_OK;
}

/* *stuck: it needs more input. */
static rapt_code inflate_step(gzip_stream *g, gzip_input *in, const char *name, char *out, size_t capacity, size_t *got,
                              bool *stuck, rapt_error *err)
{
    const size_t size = in->size < MAX_STEP ? in->size : MAX_STEP, room = capacity < MAX_STEP ? capacity : MAX_STEP;
    g->z.next_in = (void *)(uintptr_t)in->at;
    g->z.avail_in = (uInt)size;
    g->z.next_out = (void *)out;
    g->z.avail_out = (uInt)room;
    const int status = inflate(&g->z, Z_NO_FLUSH);
    const size_t used = size - g->z.avail_in;
    in->at += used;
    in->size -= used;
    *got = room - g->z.avail_out;
    g->between = status == Z_STREAM_END;
    *stuck = status != Z_STREAM_END && used == 0 && *got == 0;
    if (status == Z_MEM_ERROR)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory to expand it", name);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the gzip file is damaged (%s)", name, g->z.msg ? g->z.msg : "dictionary");
    if (*stuck && in->last && in->size == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the gzip file is cut off", name);
    return RAPT_OK;
}

rapt_code gzip_next(gzip_stream *g, gzip_input *in, const char *name, char *out, size_t capacity, size_t *got, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool stuck = false;
    *got = 0;
    while (!code && !stuck && *got < capacity) {
        size_t more = 0;
        if (g->between)
            code = begin_member(g, in, name, err);
        if (code || g->between)
            break;
        code = inflate_step(g, in, name, out + *got, capacity - *got, &more, &stuck, err);
        *got += more;
    }
    return code;
}
