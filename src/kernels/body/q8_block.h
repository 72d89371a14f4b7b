/* kernels/body/q8_block.h: a block of Q8_0: 32 numbers as integers of 8 bits with one scale, rounded as GGUF's reference does.
 * For operands of products (body/quant_pack.h, body/q8_pack.h) and for stored numbers (body/stored_rows.h).
 * tensor/blocks_write.c, which rounds blocks of files, gives the same bytes for ordinary blocks. Two cases differ: there tiny
 * blocks become zeros only where gguf makes zeros, and callers refuse numbers that are not finite; here the number format has a
 * rule for both (docs/number-format.md). Loops over whole blocks in plain C, which compilers vectorize, so that one source serves
 * all ISAs. */
#ifndef KERNELS_BODY_Q8_BLOCK_H
#define KERNELS_BODY_Q8_BLOCK_H

#include "kernels/half.h"

#define Q8_BLOCK 32
#define Q8_LEAST 0x1p-96f /* blocks of smaller numbers are 0: the reciprocal of their scale would be infinite */
#define Q8_NOT_FINITE 0x7f800000u

/* The bits of the largest magnitude: as integers they compare as the numbers do, NaN above all. */
VEC uint32_t q8_largest(const float *x)
{
    uint32_t bits[Q8_BLOCK], largest = 0;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < Q8_BLOCK; i++) {
        const uint32_t magnitude = bits[i] & 0x7fffffff;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

/* To the nearest integer, ties to even: |x| < 2^22. */
VEC float q8_nearest(float x) { return x + 0x1.8p23f - 0x1.8p23f; }

/* To the nearest integer, ties away from 0, as GGUF's reference rounds. */
VEC float q8_round(float x)
{
    const float even = q8_nearest(x), rest = x - even;
    return even + (float)((rest == 0.5f) & (x > 0)) - (float)((rest == -0.5f) & (x < 0)); /* & : without a jump */
}

/* Values + 128 of a block, and the bits of its scale. */
VEC uint32_t q8_weights(const float *x, uint8_t *values)
{
    const float scale = half_of_bits(q8_largest(x)) / 127, factor = scale > 0 ? 1 / scale : 0;
    const bool usual = scale >= Q8_LEAST && scale < 0x1p127f;
    if (usual)
        for (int i = 0; i < Q8_BLOCK; i++)
            values[i] = (uint8_t)(128 + (int32_t)q8_round(x[i] * factor));
    else
        memset(values, 128, Q8_BLOCK);
    return half_from_float(usual ? scale : scale < 1 ? 0 : half_of_bits(Q8_NOT_FINITE));
}

#endif
