/* kernels/body/q4_pack.h: weights of 4 bits in blocks of 32 (Q4_0), packed for the tile of body/quant_body.h. A step of two
 * blocks has 8 numbers of eight values, four of each block in the low and high halves of four bytes, and one number with both
 * scales. Packed from numbers, which are rounded, or without change from blocks of Q4_0 of a file. body/k_pack.h has values in
 * the same layout. For the GEMM driver, through the table. */
#ifndef KERNELS_BODY_Q4_PACK_H
#define KERNELS_BODY_Q4_PACK_H

#include "kernels/body/quant_pack.h"

#define Q4_QUADS (QUANT_QUADS / 2)
#define Q4_0_ROWS (Q4_QUADS + 1) /* of a step */

#define Q4_LOW 0x0f0f0f0fu

/* Stores 32 values from 0 to 15, four in each word. */
VEC void q4_put_values(rapt_real *step, size_t half, const uint32_t *values)
{
    for (size_t q = 0; q < Q4_QUADS; q++) {
        uint32_t both = 0;
        if (half)
            memcpy(&both, step + q, 4);
        both |= values[q] << 4 * half;
        memcpy(step + q, &both, 4);
    }
}

/* The first number of the largest magnitude. */
VEC float q4_most(const float *x)
{
    const float most = half_of_bits(q8_largest(x));
    int i = 0;
    while (i + 1 < Q8_BLOCK && fabsf(x[i]) != most)
        i++;
    return x[i];
}

/* A quant_put of numbers, as Q4_0: d is the number of the largest magnitude by -8; 8 is 0. */
static void q4_put_numbers(rapt_real *step, size_t half, const void *from, size_t at)
{
    const float *x = from, most = half_of_bits(q8_largest(x)), scale = q4_most(x) / -8;
    const bool usual = most >= 8 * Q8_LEAST && most < 0x1p127f;
    const float factor = usual ? 1 / scale : 0;
    uint8_t values[Q8_BLOCK];
    uint32_t words[Q4_QUADS];
    (void)at;
    for (int i = 0; i < Q8_BLOCK; i++) {
        const int32_t value = usual ? (int32_t)(x[i] * factor + 8.5f) : 8;
        values[i] = (uint8_t)(value < 15 ? value : 15);
    }
    memcpy(words, values, sizeof words);
    q4_put_values(step, half, words);
    quant_put_half(step + Q4_QUADS, half,
                   half_from_float(usual ? scale : most < 1 ? 0 : half_of_bits(Q8_NOT_FINITE)));
}

/* A quant_put of Q4_0, which q4_finish_q4_0 finishes: a scale of two bytes, then 16 bytes with value i in the low half of byte i
 * and value i + 16 in the high one. */
static void q4_put_q4_0(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at * (2 + Q8_BLOCK / 2);
    memcpy(step + half * Q4_QUADS / 2, block + 2, Q8_BLOCK / 2);
    quant_put_half(step + Q4_QUADS, half, quant_two_bytes(block));
}

/* A quant_finish of Q4_0. */
VEC void q4_finish_q4_0(v16 rows[16])
{
    const w16 low = w_set1(Q4_LOW), high = w_set1(~Q4_LOW);
    UNROLL
    for (size_t q = 0; q < Q4_QUADS / 2; q++) {
        const w16 first = w_of_v(rows[q]), second = w_of_v(rows[Q4_QUADS / 2 + q]);
        rows[q] = v_of_w(w_or(w_and(first, low), w_left(w_and(second, low), 4)));
        rows[Q4_QUADS / 2 + q] = v_of_w(w_or(w_and(w_right(first, 4), low), w_and(second, high)));
    }
}

static void pack_b_q4(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    const quant_source from = {.b = b, .b_row = b_row, .b_col = b_col, .kc = kc, .n = n};
    quant_pack(q4_put_numbers, quant_finished, false, Q4_0_ROWS, &from, dst);
}

static void pack_stored_q4_0(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst)
{
    (void)format;
    const quant_source from = {.columns = columns, .bytes = 8 * 18, .k0 = k0, .kc = kc, .n = n};
    quant_pack(q4_put_q4_0, q4_finish_q4_0, true, Q4_0_ROWS, &from, dst);
}

#endif
