/* kernels/half.h: numbers of 16 bits, IEEE 754 binary16 and bfloat16, from and to fp32, by integers and exact operations, the
 * same everywhere. For the kernels of quantized weights and of stored rows, for blocks of files (tensor/blocks.c) and for tensors
 * in 16 bits (io/weights/widen.c). Choices are made with masks, because a loop with a branch is not vectorized.
 *
 * binary16 is a sign, 5 bits of exponent with a bias of 15, and 10 bits of fraction; binary32 has 8 bits with a bias of 127, and
 * 23. A normal number moves by 23 - 10 = 13 bits, and its exponent rises by 127 - 15 = 112; the exponent of inf and NaN, 31,
 * becomes 255. A subnormal one of the fraction f is f 2^-24, the distance of 2^-14 + f 2^-24 from 2^-14. bfloat16 is the upper
 * half of a binary32. */
#ifndef KERNELS_HALF_H
#define KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t half_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Exact; a NaN stays one. */
static inline float half_to_float(uint32_t half)
{
    const uint32_t rest = half & 0x7fff, sign = (half & 0x8000) << 16;
    const uint32_t normal = (rest << 13) + ((112u << 23) << (rest >= 0x7c00));
    const uint32_t subnormal = half_bits_of(half_of_bits((rest << 13) + (113u << 23)) - 0x1p-14f);
    const uint32_t is_small = 0u - (uint32_t)(rest < 0x0400);
    return half_of_bits(sign | (subnormal & is_small) | (normal & ~is_small));
}

/* Rounds to nearest, ties to even; too large numbers become infinite, NaN stays NaN. Half of the last place is added, and the sum
 * carries into the exponent if it must. A subnormal result is the fraction of the sum with 0.5, because the last place of 0.5 is
 * the last place of a subnormal number (2^-24). */
static inline uint32_t half_from_float(float x)
{
    const uint32_t bits = half_bits_of(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest < 0x38800000) /* 2^-14 */
        return sign | (half_bits_of(half_of_bits(rest) + 0.5f) - 0x3f000000);
    if (rest >= 0x47800000) /* 2^16 */
        return sign | (rest > 0x7f800000 ? 0x7e00 : 0x7c00);
    return sign | (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
}

/* bfloat16: exact. */
static inline float bf16_to_float(uint32_t upper)
{
    return half_of_bits(upper << 16);
}

/* To nearest, ties to even; a NaN stays one. */
static inline uint32_t bf16_from_float(float x)
{
    const uint32_t bits = half_bits_of(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return (bits & 0x7fffffff) > 0x7f800000 ? quiet : nearest;
}

#endif
