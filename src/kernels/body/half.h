/* kernels/body/half.h: numbers of 16 bits (IEEE 754 binary16) from and to fp32, by integers and exact operations, the same
 * everywhere. For the scales of quantized weights: body/q8_pack.h, body/q8_lanes.h. */
#ifndef KERNELS_BODY_HALF_H
#define KERNELS_BODY_HALF_H

#include <string.h>

/* Exact; of a number that is not negative. */
static inline float half_to_float(uint32_t half)
{
    const uint32_t bits = half << 13; /* the exponent is 112 too small */
    float x;
    memcpy(&x, &bits, sizeof x);
    return half < 0x7c00 ? x * 0x1p112f : x * 0x1p127f * 0x1p127f; /* inf, which a NaN becomes, too */
}

/* To nearest, ties to even; of a number that is not negative. */
static inline uint32_t half_from_float(float x)
{
    uint32_t bits;
    const bool small = x < 0x1p-14f; /* a multiple of 2^-24, which the sum with 1/2 is rounded to */
    const float rounded = small ? x + 0.5f : x;
    memcpy(&bits, &rounded, sizeof bits);
    if (small)
        return bits - 0x3f000000;
    bits += 0xfff + (bits >> 13 & 1);
    return bits >= 0x47800000 ? 0x7c00 : (bits - 0x38000000) >> 13;
}

#endif
