/* text/line_stream.c: lines from a file, a pipe or a terminal, in blocks. A block ends when nothing more has arrived, so that a
 * person who types a line gets an answer before the next one. lines.c reads a text as a whole. */
#include "text/line_stream.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/near_path.h"
#include "text/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PORTION ((size_t)256 << 10)
#define BLOCK ((size_t)16 << 20)

struct line_stream {
    char *path;
    const char *name; /* for messages */
    int fd;
    bool ended;
    char *data; /* [capacity]: bytes that were read and not handed out before this block */
    size_t size, capacity, used; /* data[0 .. used) is the block */
    rapt_text *line;
    size_t count, line_capacity, number; /* `number`: the number of the block's first line */
    gzip_stream *gzip; /* NULL: the file is a text as it is */
    char *packed;      /* [PORTION + 1]: bytes of a gzip file */
    gzip_input in;     /* the part of these that is not expanded yet */
    rapt_error error; /* an error after good lines */
};

static rapt_code fail_to_read(const line_stream *s, rapt_error *err)
{
    char near[NEAR_PATH_TEXT] = "";
    rapt_code code = errno == ENOENT ? RAPT_ERR_NOT_FOUND : RAPT_ERR_IO;
    return rapt_fail(err, code, "cannot read %.380s: %s%s", s->name, strerror(errno),
                     errno == ENOENT ? near_path(s->name, near) : "");
}

line_stream *line_stream_open(const char *path, rapt_error *err)
{
    line_stream *s = calloc(1, sizeof *s);
    if (!s || !(s->path = chars_copy(path))) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to read %.380s", path);
        free(s);
        return NULL;
    }
    s->number = 1;
    bool standard = strcmp(path, "-") == 0;
    s->name = standard ? "standard input" : s->path;
    s->fd = standard ? DISK_IN : disk_open(path, DISK_READ);
    if (s->fd >= 0)
        return s;
    fail_to_read(s, err);
    line_stream_free(s);
    return NULL;
}

void line_stream_free(line_stream *s)
{
    if (!s)
        return;
    if (s->fd > DISK_IN)
        disk_close(s->fd);
    gzip_close(s->gzip);
    free(s->packed);
    free(s->path);
    free(s->data);
    free(s->line);
    free(s);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static rapt_code line_stream_fail_memory(const line_stream *s, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%.380s:%zu: out of memory for the lines from here on", s->name, s->number);
}

static rapt_code read_bytes(line_stream *s, char *to, size_t *got, rapt_error *err)
{
    const ptrdiff_t count = disk_read(s->fd, to, PORTION);
    *got = count < 0 ? 0 : (size_t)count;
    return count < 0 ? fail_to_read(s, err) : RAPT_OK;
}

/* The first bytes begin a gzip file. */
static rapt_code begin_gzip(line_stream *s, rapt_error *err)
{
    s->packed = malloc(PORTION + 1);
    s->gzip = s->packed ? gzip_open(NULL) : NULL;
    if (!s->gzip)
        return line_stream_fail_memory(s, err);
    memcpy(s->packed, s->data, s->size);
    s->in = (gzip_input){s->packed, s->size, false};
    s->size = 0;
    return RAPT_OK;
}

static rapt_code read_as_is(line_stream *s, rapt_error *err)
{
    const bool first = s->number == 1 && s->used == 0 && s->size <= 1;
    size_t got;
    rapt_code code = read_bytes(s, s->data + s->size, &got, err);
    s->ended = got == 0;
    s->size += got;
    return !code && first && gzip_begins(s->data, s->size) ? begin_gzip(s, err) : code;
}

static rapt_code read_expanded(line_stream *s, rapt_error *err)
{
    size_t got = 0;
    rapt_code code = gzip_next(s->gzip, &s->in, s->name, s->data + s->size, PORTION, &got, err);
    while (!code && got == 0 && !s->in.last) {
        size_t more;
        code = read_bytes(s, s->packed, &more, err);
        s->in = (gzip_input){s->packed, more, more == 0};
        if (!code)
            code = gzip_next(s->gzip, &s->in, s->name, s->data + s->size, PORTION, &got, err);
    }
    s->ended = got == 0;
    s->size += got;
    return code;
}

static rapt_code read_more(line_stream *s, rapt_error *err)
{
    if (!ARRAY_RESERVE(&s->data, &s->capacity, s->size + PORTION + 1)) /* room for a NUL after the last line */
        return line_stream_fail_memory(s, err);
    return s->gzip ? read_expanded(s, err) : read_as_is(s, err);
}

static bool has_arrived(const line_stream *s)
{
    return s->in.size > 0 || disk_has_arrived(s->fd);
}

static size_t count_newlines(const char *at, const char *end)
{
    size_t count = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

/* Whether to read on, with `lines` whole lines there: without any it waits for one. */
static bool wants_more(const line_stream *s, size_t lines, size_t max)
{
    return !s->ended && (lines == 0 || (lines < max && s->size < BLOCK && has_arrived(s)));
}

static rapt_code line_stream_gather(line_stream *s, size_t max, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    size_t lines = s->size ? count_newlines(s->data, s->data + s->size) : 0;
    while (!code && wants_more(s, lines, max)) {
        size_t before = s->size;
        if (lines == 0 && before > LINE_STREAM_LONGEST)
            return rapt_fail(err, RAPT_ERR_VALUE, "%.380s:%zu: the line is longer than %zu bytes", s->name, s->number,
                             LINE_STREAM_LONGEST);
        code = read_more(s, err);
        if (!code)
            lines += count_newlines(s->data + before, s->data + s->size);
    }
    return code;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static bool line_stream_keep(line_stream *s, rapt_text line)
{
    if (!ARRAY_RESERVE(&s->line, &s->line_capacity, s->count + 1))
        return false;
    s->line[s->count++] = line;
    return true;
}

/* Checks the line from `at` to `end` and ends it with a NUL. */
static rapt_code line_stream_take(line_stream *s, char *at, char *end, rapt_error *err)
{
    size_t number = s->number + s->count;
    rapt_code code = lines_check(s->name, number, at, (size_t)(end - at), err);
    if (code)
        return code;
    if (number == 1)
        at += lines_mark(at, (size_t)(end - at));
    if (at == s->data + s->size) /* a byte order mark alone is not a line */
        return RAPT_OK;
    end -= end > at && end[-1] == '\r';
    *end = '\0';
    return line_stream_keep(s, (rapt_text){at, (size_t)(end - at)}) ? RAPT_OK : line_stream_fail_memory(s, err);
}

static rapt_code line_stream_cut(line_stream *s, size_t max, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (char *end = s->data + s->size; !code && s->used < s->size && s->count < max;) {
        char *at = s->data + s->used, *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline && !s->ended)
            return RAPT_OK;
        code = line_stream_take(s, at, newline ? newline : end, err);
        s->used = newline ? (size_t)(newline - s->data) + 1 : s->size;
    }
    return code;
}

static void drop_block(line_stream *s)
{
    if (s->used > 0)
        memmove(s->data, s->data + s->used, s->size - s->used);
    s->size -= s->used;
    s->used = 0;
    s->number += s->count;
    s->count = 0;
}

rapt_code line_stream_next(line_stream *s, size_t max, line_block *out, rapt_error *err)
{
    drop_block(s);
    if (!s->error.code) {
        line_stream_gather(s, max, &s->error);
        if (s->size > 0)
            line_stream_cut(s, max, &s->error); /* also the text before an error */
    }
    *out = (line_block){s->line, s->count, s->number};
    return s->count == 0 && s->error.code ? rapt_fail(err, s->error.code, "%s", s->error.message) : RAPT_OK;
}
