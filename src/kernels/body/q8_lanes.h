/* kernels/body/q8_lanes.h: products of numbers of 8 bits, four to each of 16 lanes, summed in integers of 32 bits: in plain C,
 * for ISAs that do not define VEC_I16 and the same primitives. The bytes of weights have 128 added, those of activations are
 * signed, above -128. The instructions of some ISAs want one operand without a sign; their sums begin at -128 times the sum of
 * the activations.
 * For body/q8_body.h. */
#ifndef KERNELS_BODY_Q8_LANES_H
#define KERNELS_BODY_Q8_LANES_H

#ifndef VEC_I16

#include "kernels/body/half.h"

typedef struct i16 { int32_t lane[16]; } i16; /* 16 integers, or 64 bytes */

VEC i16 i_load(const float *p)
{
    i16 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}

/* The four bytes at p in each lane. */
VEC i16 i_broadcast(const float *p)
{
    i16 r;
    for (int i = 0; i < 16; i++)
        memcpy(&r.lane[i], p, 4);
    return r;
}

/* What a sum of products begins at; *p: an integer, -128 times the sum of the activations. */
VEC i16 i_start(const float *p)
{
    (void)p;
    return (i16){{0}};
}

/* sum + the four products of each lane. */
VEC i16 i_dot(i16 w, i16 a, i16 sum)
{
    uint8_t weights[64];
    int8_t values[64];
    memcpy(weights, w.lane, sizeof weights);
    memcpy(values, a.lane, sizeof values);
    for (int i = 0; i < 64; i++)
        sum.lane[i / 4] += (weights[i] - 128) * values[i];
    return sum;
}

VEC v16 v_of_i(i16 a)
{
    float lanes[16];
    for (int i = 0; i < 16; i++)
        lanes[i] = (float)a.lane[i];
    return v_load(lanes);
}

/* The numbers of 16 bits in the low or high half of each of 16 numbers. */
VEC v16 v_half(const float *p, const int high)
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
