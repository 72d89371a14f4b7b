/* kernels/body/q8_pack.h: weights of 8 bits in blocks of 32 (Q8_0), packed for the tile of body/quant_body.h. A step of two
 * blocks has 16 numbers of four values + 128, and one number with both scales. Packed from numbers, which are rounded, or without
 * change from blocks of Q8_0 or Q5_0 of a file. For the GEMM driver, through the table. */
#ifndef KERNELS_BODY_Q8_PACK_H
#define KERNELS_BODY_Q8_PACK_H

#include "kernels/body/quant_pack.h"

#define Q8_ROWS (QUANT_QUADS + 1) /* of a step */

VEC void q8_put(rapt_real *step, size_t half, const uint8_t *values, uint32_t scale)
{
    memcpy(step + half * QUANT_QUADS / 2, values, Q8_BLOCK);
    quant_put_half(step + QUANT_QUADS, half, scale);
}

/* A quant_put of numbers. */
static void q8_put_numbers(rapt_real *step, size_t half, const void *from, size_t at)
{
    uint8_t values[Q8_BLOCK];
    const uint32_t scale = q8_weights(from, values);
    (void)at;
    q8_put(step, half, values, scale);
}

/* A quant_put of Q8_0, which q8_finish_q8_0 finishes: a scale of two bytes, 32 signed bytes. */
static void q8_put_q8_0(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at * (2 + Q8_BLOCK);
    q8_put(step, half, block + 2, quant_two_bytes(block));
}

/* A quant_finish of Q8_0: adds 128 to signed bytes. */
VEC void q8_finish_q8_0(v16 rows[16])
{
    const w16 high = w_set1(0x80808080);
    UNROLL
    for (int q = 0; q < 16; q++)
        rows[q] = v_of_w(w_xor(w_of_v(rows[q]), high));
}

/* A quant_put for Q5_0: a scale, the fifth bits of 32 values, and their lower four bits, with values i and i + 16 in a byte; 16
 * stands for 0. */
static void q8_put_q5_0(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at * (2 + 4 + Q8_BLOCK / 2), *low = block + 6;
    const uint32_t high = quant_two_bytes(block + 2) | quant_two_bytes(block + 4) << 16;
    uint8_t values[Q8_BLOCK];
    for (int i = 0; i < Q8_BLOCK; i++) {
        const uint32_t four = i < Q8_BLOCK / 2 ? low[i] & 15 : low[i - Q8_BLOCK / 2] >> 4;
        values[i] = (uint8_t)(128 - 16 + (four | (high >> i & 1) << 4));
    }
    q8_put(step, half, values, quant_two_bytes(block));
}

static void pack_b_q8(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    const quant_source from = {.b = b, .b_row = b_row, .b_col = b_col, .kc = kc, .n = n};
    quant_pack(q8_put_numbers, quant_finished, false, Q8_ROWS, &from, dst);
}

static void pack_stored_q8(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst)
{
    const bool five = format == KERNELS_Q5_0;
    const quant_source from = {.columns = columns, .bytes = 8 * (five ? 22 : 34), .k0 = k0, .kc = kc, .n = n};
    if (five)
        quant_pack(q8_put_q5_0, quant_finished, true, Q8_ROWS, &from, dst);
    else
        quant_pack(q8_put_q8_0, q8_finish_q8_0, true, Q8_ROWS, &from, dst);
}

#endif
