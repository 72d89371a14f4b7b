/* kernels/body/bf16.h: pairs of bf16 values in the 32 bits of one number: the upper 16 bits of an fp32 number are one in
 * bf16. Primitives for ISAs that have no instructions for them (those that do define VEC_BF16 and the same primitives).
 * For body/gemm_body.h and body/pack_bf16.h. */
#ifndef KERNELS_BODY_BF16_H
#define KERNELS_BODY_BF16_H

#ifndef VEC_BF16

#include "kernels/half.h"

VEC v16 bf16_join(const float *low, const float *high, const int step)
{
    uint32_t pairs[16];
    float lanes[16];
    for (int i = 0; i < 16; i++)
        pairs[i] = bf16_from_float(low[i * step]) | bf16_from_float(high[i * step]) << 16;
    memcpy(lanes, pairs, sizeof lanes);
    return v_load(lanes);
}

/* Lane i: (even[i], odd[i]). */
VEC v16 v_pair(v16 even, v16 odd)
{
    float low[16], high[16];
    v_store(low, even);
    v_store(high, odd);
    return bf16_join(low, high, 1);
}

/* Lane i: (x[2 i], x[2 i + 1]) of the 32 elements of both. */
VEC v16 v_pair_neighbors(v16 first, v16 second)
{
    float x[32];
    v_store(x, first);
    v_store(x + 16, second);
    return bf16_join(x, x + 1, 2);
}

/* One element of each pair, moved up by `shift` bits. */
VEC v16 bf16_half(v16 a, int shift)
{
    float lanes[16];
    uint32_t pairs[16];
    v_store(lanes, a);
    memcpy(pairs, lanes, sizeof pairs);
    for (int i = 0; i < 16; i++)
        pairs[i] = (pairs[i] << shift) & 0xffff0000;
    memcpy(lanes, pairs, sizeof lanes);
    return v_load(lanes);
}

/* sum + both products of each lane. */
VEC v16 v_dot(v16 a, v16 b, v16 sum)
{
    return v_fma(bf16_half(a, 0), bf16_half(b, 0), v_fma(bf16_half(a, 16), bf16_half(b, 16), sum));
}

#endif

#endif
