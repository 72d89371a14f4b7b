/* kernels/body/q4_pack.h: weights of 4 bits in blocks of 32, packed for the tile of body/quant_body.h: of a step of two blocks 8
 * numbers of eight values each, four of each block in the low and high halves of four bytes. Behind them, of Q4_0, a number with
 * both scales; of Q4_K two: with the scale and the minimum of 256 values, and with the integers, of either block, that these are
 * multiplied by. From numbers, which are rounded to Q4_0, or from blocks of a file, as they are.
 * For the GEMM driver, through the table. */
#ifndef KERNELS_BODY_Q4_PACK_H
#define KERNELS_BODY_Q4_PACK_H

#include "kernels/body/quant_pack.h"

#define Q4_QUADS (QUANT_QUADS / 2)
#define Q4_0_ROWS (Q4_QUADS + 1) /* of a step */
#define Q4_K_ROWS (Q4_QUADS + 2)
#define Q4_K_PARTS 8    /* blocks of 32 with a scale and a minimum in common, */
#define Q4_K_BYTES 144  /* the bytes of them: two numbers of two bytes, 12 bytes of scales, */
#define Q4_K_VALUES 16  /* and values from here on */

/* Values from 0 to 15. */
VEC void q4_put_values(rapt_real *step, size_t half, const uint8_t *values)
{
    for (size_t q = 0; q < Q4_QUADS; q++) {
        uint8_t bytes[4] = {0};
        if (half)
            memcpy(bytes, step + q * GEMM_NR, 4);
        for (size_t i = 0; i < 4; i++)
            bytes[i] = (uint8_t)(bytes[i] | values[4 * q + i] << 4 * half);
        memcpy(step + q * GEMM_NR, bytes, 4);
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
    (void)at;
    for (int i = 0; i < Q8_BLOCK; i++) {
        const int32_t value = usual ? (int32_t)(x[i] * factor + 8.5f) : 8;
        values[i] = (uint8_t)(value < 15 ? value : 15);
    }
    q4_put_values(step, half, values);
    quant_put_half(step + Q4_QUADS * GEMM_NR, half,
                   half_from_float(usual ? scale : most < 1 ? 0 : half_of_bits(Q8_NOT_FINITE)));
}

/* The values of a block of 16 bytes, with value i in the low half of byte i and value i + 16 in the high one. */
VEC void q4_halves(const uint8_t *bytes, uint8_t *values)
{
    for (int i = 0; i < Q8_BLOCK / 2; i++) {
        values[i] = bytes[i] & 15;
        values[Q8_BLOCK / 2 + i] = bytes[i] >> 4;
    }
}

/* A quant_put of Q4_0: a scale of two bytes, 16 bytes with two values each. */
static void q4_put_q4_0(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at * (2 + Q8_BLOCK / 2);
    uint8_t values[Q8_BLOCK];
    q4_halves(block + 2, values);
    q4_put_values(step, half, values);
    quant_put_half(step + Q4_QUADS * GEMM_NR, half, quant_two_bytes(block));
}

/* The integers of 6 bits that the scale and the minimum of 256 values are multiplied by for block `part` of them: of the first
 * four blocks in the lower bits of bytes, of the others in halves of bytes and the upper two bits of the first: as block_part of
 * tensor/blocks.c has them, of which a kernel knows nothing. */
VEC uint32_t q4_k_factors(const uint8_t *scales, size_t part)
{
    if (part < Q4_K_PARTS / 2)
        return (scales[part] & 63) | (uint32_t)(scales[part + 4] & 63) << 8;
    const uint32_t scale = (scales[part + 4] & 15) | (uint32_t)(scales[part - 4] >> 6) << 4;
    const uint32_t minimum = scales[part + 4] >> 4 | (uint32_t)(scales[part] >> 6) << 4;
    return scale | minimum << 8;
}

/* A quant_put of Q4_K: of two blocks of 32 values, those of the first are the low halves of 32 bytes. */
static void q4_put_q4_k(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *all = (const uint8_t *)from + at / Q4_K_PARTS * Q4_K_BYTES;
    const size_t part = at % Q4_K_PARTS;
    const uint8_t *bytes = all + Q4_K_VALUES + part / 2 * Q8_BLOCK;
    uint8_t values[Q8_BLOCK];
    for (int i = 0; i < Q8_BLOCK; i++)
        values[i] = bytes[i] >> 4 * (part % 2) & 15;
    q4_put_values(step, half, values);
    memcpy(step + Q4_QUADS * GEMM_NR, all, 4);
    quant_put_half(step + (Q4_QUADS + 1) * GEMM_NR, half, q4_k_factors(all + 4, part));
}

/* A quant_put of zeros. */
static void q4_put_nothing(rapt_real *step, size_t half, const void *from, size_t at)
{
    (void)half, (void)from, (void)at;
    for (size_t q = 0; q < Q4_K_ROWS; q++)
        step[q * GEMM_NR] = 0;
}

static void pack_b_q4(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    quant_pack(q4_put_numbers, Q4_0_ROWS, kc, n, b, b_row, b_col, dst);
}

static void pack_stored_q4_0(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst)
{
    (void)format;
    quant_pack_stored(q4_put_q4_0, q4_put_numbers, Q4_0_ROWS, k0, kc, n, columns, dst);
}

static void pack_stored_q4_k(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst)
{
    (void)format;
    quant_pack_stored(q4_put_q4_k, q4_put_nothing, Q4_K_ROWS, k0, kc, n, columns, dst);
}

#endif
