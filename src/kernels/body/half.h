/* kernels/body/half.h: numbers of 16 bits (IEEE 754 binary16) from and to fp32, by integers and exact operations, the same
 * everywhere. For the scales of quantized weights: body/quant_pack.h, body/quant_lanes.h. */
#ifndef KERNELS_BODY_HALF_H
#define KERNELS_BODY_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exact. */
static inline float half_to_float(uint32_t half)
{
    const uint32_t magnitude = half & 0x7fff;
    const float x = half_of_bits(magnitude << 13); /* the exponent is 112 too small */
    const float y = magnitude < 0x7c00 ? x * 0x1p112f : x * 0x1p127f * 0x1p127f; /* inf, which a NaN becomes, too */
    return half & 0x8000 ? -y : y;
}

/* To nearest, ties to even. */
static inline uint32_t half_from_float(float x)
{
    uint32_t bits, sign;
    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000;
    const float most = half_of_bits(bits & 0x7fffffff);
    const bool small = most < 0x1p-14f; /* a multiple of 2^-24, which the sum with 1/2 is rounded to */
    const float rounded = small ? most + 0.5f : most;
    memcpy(&bits, &rounded, sizeof bits);
    if (small)
        return sign | (bits - 0x3f000000);
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (bits >= 0x47800000 ? 0x7c00 : (bits - 0x38000000) >> 13);
}

#endif
