/* kernels/body/stored_rows.h: converts a row of numbers to fewer bytes and back to fp32: to bf16, or to blocks of Q8_0 as in
 * GGUF, of which the last may be short. For KV caches. Loops in plain C, which compilers vectorize: only the rounding is inexact,
 * so one source serves all ISAs. Bytes need not be aligned. */
#ifndef KERNELS_BODY_STORED_ROWS_H
#define KERNELS_BODY_STORED_ROWS_H

#include "kernels/body/q8_block.h"

/* ---- bf16: the upper 16 bits of an fp32 number ------------------------------------------------------------------------ */

static void round_bf16(size_t n, const rapt_real *x, uint8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t half = (uint16_t)bf16_from_float((float)x[i]);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

static void widen_bf16(size_t n, const uint8_t *from, rapt_real *y)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, sizeof half);
        y[i] = (rapt_real)bf16_to_float(half);
    }
}

/* ---- Q8_0: a scale of 16 bits and the integers of a block ------------------------------------------------------------- */

#define Q8_STORED (sizeof(uint16_t) + Q8_BLOCK) /* bytes of a whole block */

VEC void round_q8_block(const size_t n, const rapt_real *x, uint8_t *to)
{
    float block[Q8_BLOCK] = {0};
    uint8_t values[Q8_BLOCK]; /* with 128 added; flipping the upper bit takes that away */
    for (size_t i = 0; i < n; i++)
        block[i] = (float)x[i];
    const uint16_t scale = (uint16_t)q8_weights(block, values);
    for (size_t i = 0; i < Q8_BLOCK; i++)
        values[i] ^= 0x80;
    memcpy(to, &scale, sizeof scale);
    memcpy(to + sizeof scale, values, n);
}

/* Exact: 11 bits of a scale times 7 bits. */
VEC void widen_q8_block(const size_t n, const uint8_t *from, rapt_real *y)
{
    uint16_t half;
    memcpy(&half, from, sizeof half);
    const float scale = half_to_float(half);
    for (size_t i = 0; i < n; i++)
        y[i] = (rapt_real)(scale * (float)(int8_t)from[sizeof half + i]);
}

static void round_q8(size_t n, const rapt_real *x, uint8_t *to)
{
    for (; n >= Q8_BLOCK; n -= Q8_BLOCK, x += Q8_BLOCK, to += Q8_STORED)
        round_q8_block(Q8_BLOCK, x, to);
    if (n > 0)
        round_q8_block(n, x, to);
}

static void widen_q8(size_t n, const uint8_t *from, rapt_real *y)
{
    for (; n >= Q8_BLOCK; n -= Q8_BLOCK, from += Q8_STORED, y += Q8_BLOCK)
        widen_q8_block(Q8_BLOCK, from, y);
    if (n > 0)
        widen_q8_block(n, from, y);
}

#endif
