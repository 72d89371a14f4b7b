/* kernels/body/q8_pack.h: rounds an operand of a product to numbers of 8 bits in blocks of 32 along K, each with a scale
 * (Q8_0), in the layout that the tile of body/q8_body.h reads.
 * For the GEMM driver, through the table.
 * Loops of whole blocks in plain C, which compilers turn into vectors, so that one text is right for all ISAs. */
#ifndef KERNELS_BODY_Q8_PACK_H
#define KERNELS_BODY_Q8_PACK_H

#include "kernels/body/half.h"

#define Q8_BLOCK 32                            /* products with one scale on each side */
#define Q8_QUADS (2 * Q8_BLOCK / 4)            /* of a step of two blocks: packed numbers of 4 values each */
#define Q8_STEP (Q8_QUADS + 1)                 /* of B: and a number with both scales, in 16 bits each, the first one low */
#define Q8_A_SCALES Q8_QUADS                   /* of A behind the quads: two scales, and two integers, */
#define Q8_A_STARTS (Q8_QUADS + 2)             /* -128 times the sum of the values of a block */
#define Q8_A_STEP (Q8_QUADS + 4)
#define Q8_A_ROW (KERNELS_K_BLOCK / (2 * Q8_BLOCK) * Q8_A_STEP)
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

VEC float q8_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* To the nearest integer, ties to even: |x| < 2^22. */
VEC float q8_nearest(float x) { return x + 0x1.8p23f - 0x1.8p23f; }

/* ---- A: activations ------------------------------------------------------------------------------------------------- */

/* The integers of a block, and their sum. */
VEC void q8_values(const float *x, float factor, int8_t *values, int32_t *total)
{
    int32_t sum = 0;
    for (int i = 0; i < Q8_BLOCK; i++) {
        const int32_t value = (int32_t)q8_nearest(x[i] * factor);
        values[i] = (int8_t)value;
        sum += value;
    }
    *total = sum;
}

/* A block that has a number that is not finite gets a scale that is not, and values of 0. */
VEC void q8_activations(const float *x, float *quads, float *scale, float *start)
{
    const uint32_t largest = q8_largest(x);
    const float most = q8_float(largest);
    int8_t values[Q8_BLOCK];
    int32_t total = 0;
    const bool usual = largest < Q8_NOT_FINITE && most >= Q8_LEAST;
    if (usual)
        q8_values(x, 127 / most, values, &total);
    else
        memset(values, 0, sizeof values);
    *scale = usual ? most / 127 : largest < Q8_NOT_FINITE ? 0 : q8_float(0x7fc00000);
    total *= -128;
    memcpy(quads, values, sizeof values);
    memcpy(start, &total, sizeof total);
}

/* dst[i * Q8_A_ROW + ...]: steps of two blocks, Q8_A_STEP numbers each. */
static kernels_strides pack_a_q8(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst)
{
    for (int i = 0; i < m; i++, a += a_row, dst += Q8_A_ROW)
        for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
            float block[Q8_BLOCK] = {0}, *step = dst + k / (2 * Q8_BLOCK) * Q8_A_STEP;
            const rapt_real *from = a + (ptrdiff_t)k * a_col;
            const size_t count = k < kc ? (kc - k < Q8_BLOCK ? kc - k : Q8_BLOCK) : 0;
            const bool whole = a_col == 1 && count == Q8_BLOCK;
            for (size_t j = 0; j < count && !whole; j++)
                block[j] = from[(ptrdiff_t)j * a_col];
            q8_activations(whole ? from : block, step + half * Q8_QUADS / 2, step + Q8_A_SCALES + half,
                           step + Q8_A_STARTS + half);
        }
    return (kernels_strides){Q8_A_ROW, 1};
}

/* ---- B: weights ----------------------------------------------------------------------------------------------------- */

/* To the nearest integer, ties away from 0, as GGUF's reference rounds. */
VEC float q8_round(float x)
{
    const float even = q8_nearest(x), rest = x - even;
    return even + (float)(rest == 0.5f && x > 0) - (float)(rest == -0.5f && x < 0);
}

/* Values + 128 of a block, and the bits of its scale. */
VEC uint32_t q8_weights(const float *x, uint8_t *values)
{
    const float scale = q8_float(q8_largest(x)) / 127, factor = scale > 0 ? 1 / scale : 0;
    const bool usual = scale >= Q8_LEAST && scale < 0x1p127f;
    for (int i = 0; i < Q8_BLOCK; i++)
        values[i] = (uint8_t)(128 + (usual ? (int32_t)q8_round(x[i] * factor) : 0));
    return half_from_float(usual ? scale : scale < 1 ? 0 : q8_float(Q8_NOT_FINITE));
}

/* One column: its quads are GEMM_NR numbers apart. */
VEC void q8_column(size_t kc, const rapt_real *b, ptrdiff_t b_row, rapt_real *dst)
{
    uint32_t scales = 0;
    for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
        float block[Q8_BLOCK] = {0};
        uint8_t values[Q8_BLOCK];
        rapt_real *step = dst + k / (2 * Q8_BLOCK) * Q8_STEP * GEMM_NR;
        for (size_t j = 0; j < Q8_BLOCK && k + j < kc; j++)
            block[j] = b[(ptrdiff_t)(k + j) * b_row];
        const uint32_t scale = q8_weights(block, values);
        scales = half ? scales | scale << 16 : scale;
        for (size_t q = 0; q < Q8_QUADS / 2; q++)
            memcpy(step + (half * Q8_QUADS / 2 + q) * GEMM_NR, values + 4 * q, 4);
        memcpy(step + Q8_QUADS * GEMM_NR, &scales, 4);
    }
}

/* A panel: steps of Q8_STEP rows of GEMM_NR numbers. Columns from n on are zeros. */
static void pack_b_q8(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    static const rapt_real zero;
    for (int j = 0; j < GEMM_NR; j++)
        if (j < n)
            q8_column(kc, b + j * b_col, b_row, dst + j);
        else
            q8_column(kc, &zero, 0, dst + j);
}

#endif
