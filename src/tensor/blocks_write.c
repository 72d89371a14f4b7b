/* tensor/blocks_write.c: rounds numbers to the blocks of GGUF files. Scalar loops, because a file is written once. */
#include "tensor/blocks_write.h"

#include "kernels/half.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS = 32, SCALE = 2 }; /* elements of a block; bytes of a scale */

/* ---- numbers one by one --------------------------------------------------------------------------------------- */

void blocks_write_f32(size_t count, const float *from, void *to)
{
    memcpy(to, from, count * sizeof *from);
}

void blocks_write_f16(size_t count, const float *from, void *to)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = (uint16_t)half_from_float(from[i]);
        memcpy((char *)to + i * sizeof half, &half, sizeof half);
    }
}

void blocks_write_bf16(size_t count, const float *from, void *to)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t upper = (uint16_t)bf16_from_float(from[i]);
        memcpy((char *)to + i * sizeof upper, &upper, sizeof upper);
    }
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

/* The first number of the largest magnitude. */
static float blocks_write_largest(const float *x)
{
    float largest = x[0];
    for (size_t i = 1; i < ELEMENTS; i++)
        if (fabsf(x[i]) > fabsf(largest))
            largest = x[i];
    return largest;
}

/* 1 / d, 0 of 0. */
static float blocks_write_inverse(float d)
{
    return d != 0 ? 1 / d : 0;
}

static void blocks_write_scale(float d, uint8_t *to)
{
    const uint16_t half = (uint16_t)half_from_float(d);
    memcpy(to, &half, sizeof half);
}

/* Clamps; also NaN, which x / d can be if 1 / d is infinite. */
static int blocks_write_within(float x, int low, int high)
{
    return x >= (float)high ? high : x > (float)low ? (int)x : low;
}

void blocks_write_q8_0(size_t blocks, const float *from, void *to)
{
    uint8_t *out = to;
    for (size_t b = 0; b < blocks; b++, from += ELEMENTS, out += SCALE + ELEMENTS) {
        const float d = fabsf(blocks_write_largest(from)) / 127, inverse = blocks_write_inverse(d);
        blocks_write_scale(d, out);
        for (size_t i = 0; i < ELEMENTS; i++)
            out[SCALE + i] = (uint8_t)blocks_write_within(roundf(from[i] * inverse), -127, 127);
    }
}

void blocks_write_q4_0(size_t blocks, const float *from, void *to)
{
    uint8_t *out = to;
    for (size_t b = 0; b < blocks; b++, from += ELEMENTS, out += SCALE + ELEMENTS / 2) {
        const float d = blocks_write_largest(from) / -8, inverse = blocks_write_inverse(d);
        blocks_write_scale(d, out);
        for (size_t i = 0; i < ELEMENTS / 2; i++) {
            const int low = blocks_write_within(from[i] * inverse + 8.5f, 0, 15);
            const int high = blocks_write_within(from[ELEMENTS / 2 + i] * inverse + 8.5f, 0, 15);
            out[SCALE + i] = (uint8_t)(low | high << 4);
        }
    }
}
