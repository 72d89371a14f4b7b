/* view/figure/svg_image.c: the cells of a heat map as a PNG (ISO/IEC 15948) of RGB pixels, in base64, for an SVG. No other
 * pictures: filters and sizes are for rows of pixels that repeat. */
#include "view/figure/svg.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FILTER_UP = 2, CHANNELS = 3, HEAD = 13 };

static void put_32(unsigned char to[4], uint32_t x)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(x >> (24 - 8 * i));
}

static void put_chunk(buffer_writer *png, const char *name, const unsigned char *data, size_t size)
{
    unsigned char number[4];
    put_32(number, (uint32_t)size);
    buffer_put(png, number, 4);
    buffer_put(png, name, 4);
    if (size > 0)
        buffer_put(png, data, size);
    put_32(number, (uint32_t)crc32(crc32(0, (const Bytef *)name, 4), data ? data : (const Bytef *)"", (uInt)size));
    buffer_put(png, number, 4);
}

/* Adds `size` bytes to the stream, or ends it. */
static void put_deflated(z_stream *z, buffer_writer *out, unsigned char *bytes, size_t size, int flush)
{
    unsigned char piece[4096];
    z->next_in = bytes;
    z->avail_in = (uInt)size;
    do {
        z->next_out = piece;
        z->avail_out = sizeof piece;
        deflate(z, flush);
        buffer_put(out, piece, sizeof piece - z->avail_out);
    } while (z->avail_out == 0);
}

/* Rows of pixels, each as its differences from the one above, so that all but the first row of a cell are zeros. */
static void put_pixels(z_stream *z, buffer_writer *out, const canvas_cells *cells, size_t wide, size_t high, unsigned char *row)
{
    const size_t size = cells->across * wide * CHANNELS;
    unsigned char *above = row + 1 + size;
    row[0] = FILTER_UP;
    memset(above, 0, size);
    for (size_t y = 0; y < cells->down; y++) {
        for (size_t x = 0; x < cells->across; x++) {
            const uint32_t color = cells->color(cells->of, y, x);
            for (size_t i = x * wide * CHANNELS; i < (x + 1) * wide * CHANNELS; i++) {
                const unsigned char now = (unsigned char)(color >> (16 - 8 * (i % CHANNELS)));
                row[1 + i] = (unsigned char)(now - above[i]);
                above[i] = now;
            }
        }
        put_deflated(z, out, row, 1 + size, Z_NO_FLUSH);
        memset(row + 1, 0, size);
        for (size_t k = 1; k < high; k++)
            put_deflated(z, out, row, 1 + size, Z_NO_FLUSH);
    }
    put_deflated(z, out, row, 0, Z_FINISH);
}

static void put_base64(buffer_writer *out, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < size; at += 3) {
        uint32_t three = 0;
        char four[4];
        for (size_t i = 0; i < 3; i++)
            three = three << 8 | (at + i < size ? data[at + i] : 0);
        for (size_t i = 0; i < 4; i++)
            four[i] = at + i <= size ? digits[three >> (18 - 6 * i) & 63] : '=';
        buffer_put(out, four, 4);
    }
}

void svg_image_put(buffer_writer *out, const canvas_cells *cells, size_t wide, size_t high)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned char head[HEAD] = {[8] = 8, [9] = 2}; /* eight bits a channel, RGB */
    buffer_writer png = {0}, pixels = {0};
    z_stream z = {0};
    unsigned char *rows = malloc(1 + 2 * cells->across * wide * CHANNELS);
    const bool good = rows && deflateInit(&z, Z_DEFAULT_COMPRESSION) == Z_OK;
    if (good) {
        put_pixels(&z, &pixels, cells, wide, high, rows);
        deflateEnd(&z);
    }
    put_32(head, (uint32_t)(cells->across * wide));
    put_32(head + 4, (uint32_t)(cells->down * high));
    buffer_put(&png, signature, sizeof signature);
    put_chunk(&png, "IHDR", head, sizeof head);
    put_chunk(&png, "IDAT", (const unsigned char *)pixels.bytes.data, pixels.bytes.size);
    put_chunk(&png, "IEND", NULL, 0);
    out->failed = out->failed || !good || pixels.failed || png.failed;
    if (!out->failed)
        put_base64(out, (const unsigned char *)png.bytes.data, png.bytes.size);
    buffer_free(&pixels.bytes);
    buffer_free(&png.bytes);
    free(rows);
}
