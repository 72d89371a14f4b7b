/* tensor/blocks.c: the formats of quantized numbers, and how their blocks become numbers.
 *
 * A block of 32 has a scale d, and in formats _1 an offset m: x = d q (+ m). A block of 256 has parts with integer scales s and
 * minima m: x = (d s) q - (dmin m). 4-bit integers are stored in halves: the low bits of a sequence of bytes are the first half
 * of the numbers, the high bits the second half. Files are little-endian, like all processors that rapt runs on. */
#include "tensor/blocks.h"

#include "base/chars.h"
#include "kernels/half.h"
#include "tensor/blocks_write.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* binary16 at any address; all of its numbers are numbers of binary32. */
static float block_scale(const uint8_t *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return half_to_float(half);
}

/* ---- blocks of 32 ---------------------------------------------------------------------------------------------- */

static void read_q4_0(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q4_0.bytes, to += 32) {
        const float d = block_scale(at);
        for (int j = 0; j < 16; j++) {
            to[j] = d * (float)((at[2 + j] & 15) - 8);
            to[16 + j] = d * (float)((at[2 + j] >> 4) - 8);
        }
    }
}

static void read_q4_1(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q4_1.bytes, to += 32) {
        const float d = block_scale(at), m = block_scale(at + 2);
        for (int j = 0; j < 16; j++) {
            to[j] = d * (float)(at[4 + j] & 15) + m;
            to[16 + j] = d * (float)(at[4 + j] >> 4) + m;
        }
    }
}

/* Number j of 5 bits: the highest is bit j of the four bytes `high`. */
static int block_five(const uint8_t *high, const uint8_t *low, int j)
{
    const int four = j < 16 ? low[j] & 15 : low[j - 16] >> 4;
    return four | (high[j / 8] >> j % 8 & 1) << 4;
}

static void read_q5_0(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q5_0.bytes, to += 32) {
        const float d = block_scale(at);
        for (int j = 0; j < 32; j++)
            to[j] = d * (float)(block_five(at + 2, at + 6, j) - 16);
    }
}

static void read_q5_1(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q5_1.bytes, to += 32) {
        const float d = block_scale(at), m = block_scale(at + 2);
        for (int j = 0; j < 32; j++)
            to[j] = d * (float)block_five(at + 4, at + 8, j) + m;
    }
}

static void read_q8_0(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q8_0.bytes, to += 32) {
        const float d = block_scale(at);
        for (int j = 0; j < 32; j++)
            to[j] = d * (float)(int8_t)at[2 + j];
    }
}

/* ---- blocks of 256 --------------------------------------------------------------------------------------------- */

/* The 6-bit scale and minimum of part j of 8, from 12 bytes. Parts 0 to 3 have them in the low bits of bytes 0 to 3 and 4 to 7.
 * The upper two bits of these bytes belong to parts 4 to 7, whose low bits are in bytes 8 to 11. */
static void block_part(const uint8_t *scales, int j, int *scale, int *minimum)
{
    if (j < 4) {
        *scale = scales[j] & 63;
        *minimum = scales[j + 4] & 63;
    } else {
        *scale = (scales[j + 4] & 15) | (scales[j - 4] >> 6) << 4;
        *minimum = scales[j + 4] >> 4 | (scales[j] >> 6) << 4;
    }
}

/* Reads parts of 32 numbers. Part j is in the low bits of 32 bytes if j is even, in the high bits if it is odd. Bit j of byte i
 * of `high` is the fifth bit of number i of part j; NULL: numbers have 4 bits. */
static void read_parts(const uint8_t *at, const uint8_t *high, const uint8_t *low, float *to)
{
    const float d = block_scale(at), dmin = block_scale(at + 2);
    int scale, minimum;
    for (int j = 0; j < 8; j++, to += 32) {
        block_part(at + 4, j, &scale, &minimum);
        const float by = d * (float)scale, less = dmin * (float)minimum;
        const int shift = j % 2 * 4;
        for (int i = 0; i < 32; i++) {
            const int fifth = high ? high[i] >> j & 1 : 0;
            to[i] = by * (float)((low[j / 2 * 32 + i] >> shift & 15) | fifth << 4) - less;
        }
    }
}

static void read_q4_k(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q4_K.bytes, to += 256)
        read_parts(at, NULL, at + 16, to);
}

static void read_q5_k(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q5_K.bytes, to += 256)
        read_parts(at, at + 16, at + 48, to);
}

/* Reads half a block of 6-bit numbers. Part j of 4, 32 numbers, has its low bits in 32 of the 64 bytes `low`, and its upper bits
 * in bits 2j and 2j + 1 of `high`. There is a scale for each 16 numbers. */
static void read_six(float d, const uint8_t *low, const uint8_t *high, const uint8_t *scales, float *to)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 32; i++) {
            const int four = low[j % 2 * 32 + i] >> j / 2 * 4 & 15, two = high[i] >> 2 * j & 3;
            const float by = d * (float)(int8_t)scales[2 * j + i / 16];
            to[32 * j + i] = by * (float)((four | two << 4) - 32);
        }
}

static void read_q6_k(size_t blocks, const void *from, float *to)
{
    const uint8_t *at = from;
    for (; blocks > 0; blocks--, at += BLOCKS_Q6_K.bytes, to += 256) {
        const float d = block_scale(at + 208);
        read_six(d, at, at + 128, at + 192, to);
        read_six(d, at + 64, at + 160, at + 200, to + 128);
    }
}

/* ---- formats --------------------------------------------------------------------------------------------------- */

const block_format BLOCKS_Q4_0 = {"Q4_0", 2, 32, 18, read_q4_0, blocks_write_q4_0};
const block_format BLOCKS_Q4_1 = {"Q4_1", 3, 32, 20, read_q4_1, NULL};
const block_format BLOCKS_Q5_0 = {"Q5_0", 6, 32, 22, read_q5_0, NULL};
const block_format BLOCKS_Q5_1 = {"Q5_1", 7, 32, 24, read_q5_1, NULL};
const block_format BLOCKS_Q8_0 = {"Q8_0", 8, 32, 34, read_q8_0, blocks_write_q8_0};
const block_format BLOCKS_Q4_K = {"Q4_K", 12, 256, 144, read_q4_k, NULL};
const block_format BLOCKS_Q5_K = {"Q5_K", 13, 256, 176, read_q5_k, NULL};
const block_format BLOCKS_Q6_K = {"Q6_K", 14, 256, 210, read_q6_k, NULL};

static const block_format *const FORMATS[] = {&BLOCKS_Q4_0, &BLOCKS_Q4_1, &BLOCKS_Q5_0, &BLOCKS_Q5_1,
                                              &BLOCKS_Q8_0, &BLOCKS_Q4_K, &BLOCKS_Q5_K, &BLOCKS_Q6_K};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

const block_format *blocks_of_id(int id)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (FORMATS[i]->id == id)
            return FORMATS[i];
    return NULL;
}

const block_format *blocks_of_name(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (chars_alike(FORMATS[i]->name, name))
            return FORMATS[i];
    return NULL;
}

static bool is_bad_scale(const uint8_t *at)
{
    return (at[1] & 0x7C) == 0x7C; /* all bits of the exponent */
}

/* Scales come first in a block, except in Q6_K; a second scale is the offset, or the scale of the minima. */
size_t blocks_first_bad(const block_format *format, size_t count, const void *from)
{
    const size_t scale = format == &BLOCKS_Q6_K ? 208 : 0;
    const bool two = format == &BLOCKS_Q4_1 || format == &BLOCKS_Q5_1 || format == &BLOCKS_Q4_K || format == &BLOCKS_Q5_K;
    size_t i = 0;
    for (const uint8_t *at = (const uint8_t *)from + scale; i < count; i++, at += format->bytes)
        if (is_bad_scale(at) || (two && is_bad_scale(at + 2)))
            break;
    return i;
}
