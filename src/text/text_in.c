/* text/text_in.c: reads, expands and checks texts. */
#include "text/text_in.h"

#include "base/buffer.h"
#include "text/gzip.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define PORTION ((size_t)1 << 20) /* bytes that are expanded or checked at a time */

enum { LOOKED_AT = 4096 };

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* ---- gzip ----------------------------------------------------------------------------------------------------- */

/* gzip can write a thousand bytes as one, texts become four to forty times smaller. */
#define ALWAYS_EXPANDED ((size_t)64 << 20)
enum { MOST_RATIO = 100 };

/* Called with all of a file's contents, portion by portion. */
typedef rapt_code portion_fn(void *context, const char *text, size_t size, rapt_error *err);

static size_t most_expanded(size_t size)
{
    return size < ALWAYS_EXPANDED / MOST_RATIO ? ALWAYS_EXPANDED : size < SIZE_MAX / MOST_RATIO ? size * MOST_RATIO : SIZE_MAX;
}

static rapt_code expand(const char *bytes, size_t size, const char *name, portion_fn *take, void *context, rapt_error *err)
{
    gzip_input in = {bytes, size, true};
    gzip_stream *g = gzip_open(err);
    char *portion = g ? malloc(PORTION) : NULL;
    const size_t most = most_expanded(size);
    size_t got = 1, sum = 0;
    rapt_code code = portion ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%.380s: out of memory to expand it", name);
    while (!code && got > 0) {
        code = gzip_next(g, &in, name, portion, PORTION, &got, err);
        if (!code && got > most - sum)
            code = rapt_fail(err, RAPT_ERR_VALUE, "%.300s: it expands to more than %d times its size, which texts hardly do, and "
                             "more than %zu bytes; gunzip unpacks it all the same", name, MOST_RATIO, most);
        sum += got;
        if (!code && got > 0)
            code = take(context, portion, got, err);
    }
    free(portion);
    gzip_close(g);
    return code;
}

typedef struct expanding {
    buffer text;
    size_t max;
    const char *name;
} expanding;

static rapt_code keep_portion(void *context, const char *text, size_t size, rapt_error *err)
{
    expanding *e = context;
    if (size > e->max - e->text.size)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot read %.380s: larger than %zu bytes once it is expanded", e->name, e->max);
    return buffer_append(&e->text, text, size) ? RAPT_OK
                                               : rapt_fail(err, RAPT_ERR_MEMORY, "cannot read %.380s: out of memory", e->name);
}

rapt_code text_in_read(const char *path, size_t max_bytes, char **data, size_t *size, rapt_error *err)
{
    rapt_code code = file_read(path, max_bytes, data, size, err);
    if (code || !gzip_begins(*data, *size))
        return code;
    expanding e = {.max = max_bytes, .name = name_of(path)};
    code = expand(*data, *size, e.name, keep_portion, &e, err);
    if (!code && !buffer_append(&e.text, "", 0)) /* a NUL at the end, also for an empty text */
        code = rapt_fail(err, RAPT_ERR_MEMORY, "cannot read %.380s: out of memory", e.name);
    free(*data);
    if (code)
        buffer_free(&e.text);
    *data = code ? NULL : e.text.data;
    *size = code ? 0 : e.text.size;
    return code;
}

typedef struct draft {
    file_writer out;
    const char *name; /* of the text */
} draft;

static rapt_code write_expanded(void *context, const char *text, size_t size, rapt_error *err)
{
    draft *d = context;
    rapt_error reason = {0};
    if (file_writer_put(&d->out, text, size, &reason) == RAPT_OK)
        return RAPT_OK;
    return rapt_fail(err, reason.code, "%.200s: no place to expand it: %.200s; TMPDIR names another place", d->name,
                     reason.message);
}

static rapt_code map_expanded(const file_map *packed, file_map *m, const char *name, rapt_error *err)
{
    char *path;
    draft d = {.name = name};
    rapt_code code = file_writer_open_temporary(&d.out, "text", &path, err);
    if (code)
        return code;
    code = expand(packed->data, packed->size, name, write_expanded, &d, err);
    if (!code)
        code = file_map_draft(m, &d.out, err);
    file_writer_discard(&d.out);
    free(path);
    return code;
}

rapt_code text_in_map(file_map *m, const char *name, const char *at, rapt_error *err)
{
    file_map packed;
    rapt_code code = file_map_open(m, at, err);
    if (code || !gzip_begins(m->data, m->size))
        return code;
    packed = *m;
    *m = (file_map){0};
    code = map_expanded(&packed, m, name, err);
    file_map_close(&packed);
    return code;
}

/* ---- encodings ------------------------------------------------------------------------------------------------ */

static bool begins(const char *text, size_t size, const char *with, size_t length)
{
    return size >= length && memcmp(text, with, length) == 0;
}

/* Guesses UTF-16 and UTF-32 by the bytes of four that are zero in most characters of the text's beginning, as for ASCII
 * letters. */
static const char *guess_by_zeros(const char *text, size_t size)
{
    size_t zeros[4] = {0}, count = (size < LOOKED_AT ? size : LOOKED_AT) / 4;
    for (size_t i = 0; i < 4 * count; i++)
        zeros[i % 4] += text[i] == '\0';
    const size_t most = count - count / 4, few = count / 8;
    if (count < 4) /* too short for a guess */
        return NULL;
    if (zeros[0] <= few && zeros[2] >= most && zeros[3] >= most)
        return "it is UTF-32, not UTF-8: iconv -f UTF-32LE -t UTF-8";
    if (zeros[3] <= few && zeros[0] >= most && zeros[1] >= most)
        return "it is UTF-32, not UTF-8: iconv -f UTF-32BE -t UTF-8";
    if (zeros[0] + zeros[2] <= few && zeros[1] + zeros[3] >= count)
        return "it is UTF-16, not UTF-8: iconv -f UTF-16LE -t UTF-8";
    if (zeros[1] + zeros[3] <= few && zeros[0] + zeros[2] >= count)
        return "it is UTF-16, not UTF-8: iconv -f UTF-16BE -t UTF-8";
    return NULL;
}

const char *text_in_guess(const char *text, size_t size)
{
    if (begins(text, size, "\xFF\xFE\0\0", 4) || begins(text, size, "\0\0\xFE\xFF", 4))
        return "it is UTF-32, not UTF-8: iconv -f UTF-32 -t UTF-8";
    if (begins(text, size, "\xFF\xFE", 2) || begins(text, size, "\xFE\xFF", 2))
        return "it is UTF-16, not UTF-8: iconv -f UTF-16 -t UTF-8";
    if (gzip_begins(text, size))
        return "it is gzip; gunzip unpacks it";
    if (begins(text, size, "BZh", 3))
        return "it is bzip2; bunzip2 unpacks it";
    if (begins(text, size, "\xFD" "7zXZ", 5))
        return "it is xz; unxz unpacks it";
    if (begins(text, size, "\x28\xB5\x2F\xFD", 4))
        return "it is zstd; unzstd unpacks it";
    if (begins(text, size, "PK\3\4", 4))
        return "it is a zip archive; unzip unpacks it";
    return guess_by_zeros(text, size);
}

/* `bad`: the first byte that is not UTF-8. */
static rapt_code refuse(const char *name, const char *text, size_t size, size_t bad, rapt_error *err)
{
    const char *guess = text_in_guess(text, size);
    size_t line = 1;
    if (guess)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.300s: %s", name, guess);
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + bad - at))) != NULL; at++)
        line++;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%.300s: byte %zu: not UTF-8 (line %zu)", name, bad + 1, line);
}

static rapt_code check_portions(const char *name, const char *text, size_t size, const file_map *m, rapt_error *err)
{
    enum { LONGEST = 4 }; /* most bytes of a character, which a portion may cut */
    if (size > 0 && guess_by_zeros(text, size)) /* also valid UTF-8, because ASCII and NUL are */
        return refuse(name, text, size, 0, err);
    for (size_t at = 0, end, valid; at < size; at += valid) {
        end = size - at < PORTION ? size : at + PORTION;
        valid = utf8_valid_prefix(text + at, end - at);
        if (at + valid < end && (end == size || end - at - valid >= LONGEST))
            return refuse(name, text, size, at + valid, err);
        if (m)
            file_map_forget(m, at, at + valid);
    }
    return RAPT_OK;
}

rapt_code text_in_check(const char *name, const char *text, size_t size, rapt_error *err)
{
    return check_portions(name, text, size, NULL, err);
}

rapt_code text_in_check_map(const char *name, const file_map *m, rapt_error *err)
{
    return check_portions(name, m->data, m->size, m, err);
}
