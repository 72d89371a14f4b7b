/* tests/fuzz/fuzz_gzip.c: any bytes as a gzip file, and any text in gzip: of members, blocks and levels that its first bytes
 * choose. For libFuzzer: tests/fuzz/run.sh. zlib's own reader of such files has to agree.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "base/buffer.h"
#include "text/gzip.h"
#include "text/text_in.h"

#include <zlib.h>

#define MOST ((size_t)128 << 20) /* bytes of a text */

enum { OF_GZIP = 16 + MAX_WBITS, CHOICES = 4 };

/* In pieces of `step` bytes, as they come from a pipe, and out of a buffer of `room`. */
static rapt_code expand_in_steps(const char *bytes, size_t size, size_t step, size_t room, buffer *text, rapt_error *err)
{
    char out[256];
    size_t got = 0;
    gzip_stream *g = gzip_open(err);
    require(g != NULL);
    gzip_input in = {bytes, 0, size == 0};
    rapt_code code = RAPT_OK;
    for (const char *end = bytes + size; !code && (got > 0 || in.at + in.size < end || !in.last);) {
        if (got == 0) {
            const size_t left = (size_t)(end - in.at) - in.size;
            in.size += left < step ? left : step;
            in.last = in.at + in.size == end;
        }
        code = gzip_next(g, &in, "fuzz", out, room, &got, err);
        require(got <= room && buffer_append(text, out, got));
        if (got == 0 && in.last)
            break;
    }
    gzip_close(g);
    return code;
}

/* zlib's reader passes over what follows the file, and of a member that is cut off gives what there is. It stops at zeros
 * between two members, where ours, as Python's, goes to the second one. */
static void compare_zlib(const char *path, const void *bytes, size_t bytes_size, const char *text, size_t size)
{
    static char portion[1 << 16];
    gzFile file = gzopen(path, "rb");
    int got;
    require(file != NULL);
    while ((got = gzread(file, portion, sizeof portion)) > 0) {
        require((size_t)got <= size && memcmp(text, portion, (size_t)got) == 0);
        text += got;
        size -= (size_t)got;
    }
    require(got == 0 && (size == 0 || memmem(bytes, bytes_size, "\0\x1F\x8B", 3)));
    gzclose(file);
}

/* All readers of a file agree. Returns whether it could be read; *text is what it holds, where it is gzip. */
static bool try_file(const void *bytes, size_t size, size_t step, size_t room, buffer *text)
{
    char path[64], *data;
    size_t length;
    file_map m;
    rapt_error err = {0}, again = {0}, mapped = {0};
    int fd = fuzz_file(bytes, size, path);
    rapt_code code = text_in_read(path, MOST, &data, &length, &err);
    require_outcome(code == RAPT_OK, &err);
    require(text_in_map(&m, path, path, &mapped) == code && strcmp(mapped.message, err.message) == 0);
    if (!code) {
        require(m.size == length && (length == 0 || memcmp(m.data, data, length) == 0));
        compare_zlib(path, bytes, size, data, length);
    }
    if (code != RAPT_ERR_VALUE && gzip_begins(bytes, size)) {
        require(expand_in_steps(bytes, size, step, room, text, &again) == code);
        require(code || (text->size == length && (length == 0 || memcmp(text->data, data, length) == 0)));
    }
    file_map_close(&m);
    free(data);
    close(fd);
    return !code;
}

/* A text as a gzip file: a new member each `every` bytes, of which half end in a block that is flushed. */
static void pack(const uint8_t *text, size_t size, size_t every, int level, int strategy, buffer *out)
{
    size_t at = 0;
    do {
        const size_t n = size - at < every ? size - at : every, half = at % 2 ? n / 2 : 0;
        uint8_t packed[4096];
        z_stream z = {.next_in = (void *)(uintptr_t)(text + at), .avail_in = (uInt)half};
        require(deflateInit2(&z, level, Z_DEFLATED, OF_GZIP, 8, strategy) == Z_OK);
        for (int flush = Z_FULL_FLUSH, done = Z_OK; done != Z_STREAM_END;) {
            z.next_out = packed;
            z.avail_out = sizeof packed;
            done = deflate(&z, flush);
            require(done == Z_OK || done == Z_STREAM_END || done == Z_BUF_ERROR);
            require(buffer_append(out, packed, sizeof packed - z.avail_out));
            if (z.avail_out > 0 && flush == Z_FULL_FLUSH) {
                z.avail_in = (uInt)(n - half);
                flush = Z_FINISH;
            }
        }
        deflateEnd(&z);
        at += n;
    } while (at < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    buffer raw = {0}, damaged = {0}, plain = {0}, packed = {0}, text = {0};
    const size_t step = size > 0 ? input[0] + 1u : 1, room = size > 1 ? input[1] + 1u : 1;
    require(buffer_append(&raw, "\x1F\x8B", 2) && buffer_append(&raw, input, size));
    try_file(raw.data, raw.size, step, room, &damaged);
    try_file(input, size, step, room, &plain);
    if (size >= CHOICES) {
        const uint8_t *from = input + CHOICES;
        pack(from, size - CHOICES, 16u << (input[2] % 16), input[3] % 10, input[3] / 10 % 4, &packed);
        require(try_file(packed.data, packed.size, step, room, &text));
        require(text.size == size - CHOICES && (text.size == 0 || memcmp(text.data, from, text.size) == 0));
    }
    buffer_free(&raw);
    buffer_free(&damaged);
    buffer_free(&plain);
    buffer_free(&packed);
    buffer_free(&text);
    return 0;
}
