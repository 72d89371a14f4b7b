/* kernels/body/quant_lanes.h: products of numbers of at most 8 bits, four in each of 16 lanes, summed in 32-bit integers: in
 * plain C, for ISAs that do not define VEC_V16I and these primitives. Bytes of weights have 128 added, or are 0 to 63; bytes of
 * activations are signed and above -128. The instructions of some ISAs need one unsigned operand; there, sums with 128 added
 * begin at -128 times the sum of the activations. For body/quant_body.h. */
#ifndef KERNELS_BODY_QUANT_LANES_H
#define KERNELS_BODY_QUANT_LANES_H

#ifndef VEC_V16I

#include "kernels/half.h"

typedef struct v16i { int32_t lane[16]; } v16i; /* 16 integers, or 64 bytes */

VEC v16i i_load(const float *p)
{
    v16i r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

/* The four bytes at p in each lane. */
VEC v16i i_broadcast(const float *p)
{
    v16i r;
    for (int i = 0; i < 16; i++)
        memcpy(&r.lane[i], p, 4);
    return r;
}

VEC v16i i_zero(void) { return (v16i){{0}}; }

/* (a >> from) & mask in each lane, with `from` below 0 (a << -from) & mask. */
VEC v16i i_bits(v16i a, int from, uint32_t mask)
{
    for (int i = 0; i < 16; i++) {
        const uint32_t lane = (uint32_t)a.lane[i];
        a.lane[i] = (int32_t)((from < 0 ? lane << -from : lane >> from) & mask);
    }
    return a;
}

VEC v16i i_or(v16i a, v16i b)
{
    for (int i = 0; i < 16; i++)
        a.lane[i] |= b.lane[i];
    return a;
}

/* The start value of a sum for bytes with 128 added; *p is an integer, -128 times the sum of the activations. */
VEC v16i i_start(const float *p)
{
    (void)p;
    return i_zero();
}

/* sum + the four products in each lane, for weights that have `added` added. */
VEC v16i i_products(v16i w, v16i a, v16i sum, int added)
{
    uint8_t weights[64];
    int8_t values[64];
    memcpy(weights, w.lane, sizeof weights);
    memcpy(values, a.lane, sizeof values);
    for (int i = 0; i < 64; i++)
        sum.lane[i / 4] += (weights[i] - added) * values[i];
    return sum;
}

VEC v16i i_dot(v16i w, v16i a, v16i sum) { return i_products(w, a, sum, 128); }
VEC v16i i_dot_small(v16i w, v16i a, v16i sum) { return i_products(w, a, sum, 0); } /* for weights 0 to 63 */

VEC v16 v_of_i(v16i a)
{
    float lanes[16];
    for (int i = 0; i < 16; i++)
        lanes[i] = (float)a.lane[i];
    return v_load(lanes);
}

/* The numbers of bf16 in the low or high half of each of 16 numbers. */
VEC v16 v_widen_bf16(const float *p, const int high)
{
    uint32_t bits[16];
    float lanes[16];
    memcpy(bits, p, sizeof bits);
    for (int i = 0; i < 16; i++)
        lanes[i] = bf16_to_float(high ? bits[i] >> 16 : bits[i] & 0xffff);
    return v_load(lanes);
}

/* Widens binary16 numbers. */
VEC v16 v_widen_f16(const float *p, const int high)
{
    uint32_t bits[16];
    float lanes[16];
    memcpy(bits, p, sizeof bits);
    for (int i = 0; i < 16; i++)
        lanes[i] = half_to_float(bits[i] >> 16 * high & 0xffff);
    return v_load(lanes);
}

#endif

#endif
