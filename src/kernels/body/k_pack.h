/* kernels/body/k_pack.h: weights in blocks of 256 (Q4_K, Q5_K, Q6_K), packed without change from blocks of a file for the tile of
 * body/quant_body.h. A step has 64 values of a column: 8 numbers with the lower four bits, as in body/q4_pack.h, then what the
 * type adds:
 *     Q4_K   the scale and the minimum of the 256 values, and for each 32 values the integers that multiply them;
 *     Q5_K   two numbers with the fifth bits, for 32 values each, then what Q4_K has;
 *     Q6_K   four numbers with the upper two bits, the scale, and for each 16 values the integer + 128 that multiplies it.
 * For the GEMM driver, through the table. */
#ifndef KERNELS_BODY_K_PACK_H
#define KERNELS_BODY_K_PACK_H

#include "kernels/body/q4_pack.h"

#define K_PARTS 8                        /* parts of a block, 32 values each */
#define Q4_K_SCALES Q4_QUADS             /* the number with the scale; the integers are in the next one */
#define Q5_K_SCALES (Q4_QUADS + 2)
#define Q6_K_SCALES (Q4_QUADS + 4)
#define K_ROWS(SCALES) ((SCALES) + 2)    /* of a step */
#define Q4_K_BYTES 144 /* bytes of a block: two numbers of two bytes, 12 bytes of integers, values */
#define Q5_K_BYTES 176 /* as Q4_K, with the fifth bits before the lower four */
#define Q6_K_BYTES 210 /* lower bits of 128 bytes, upper bits of 64, 16 integers, a scale of two bytes */

/* The 6-bit integers that multiply the scale and the minimum for part `part` of a block. The first four parts have theirs in the
 * lower bits of bytes, the others in halves of bytes and the upper two bits of the former. block_part of tensor/blocks.c does the
 * same, but a kernel must not call it. */
VEC uint32_t k_factors(const uint8_t *scales, size_t part)
{
    if (part < K_PARTS / 2)
        return (scales[part] & 63) | (uint32_t)(scales[part + 4] & 63) << 8;
    const uint32_t scale = (scales[part + 4] & 15) | (uint32_t)(scales[part - 4] >> 6) << 4;
    const uint32_t minimum = scales[part + 4] >> 4 | (uint32_t)(scales[part] >> 6) << 4;
    return scale | minimum << 8;
}

/* Scale, minimum and their integers of Q4_K or Q5_K. */
VEC void k_put_scales(rapt_real *to, size_t half, const uint8_t *block, size_t part)
{
    if (half == 0)
        memcpy(to, block, 4);
    quant_put_half(to + 1, half, k_factors(block + 4, part));
}

/* The lower four bits of Q4_K or Q5_K: a step is two parts whose halves of bytes lie in the file as they are packed. */
VEC void k_put_halves(rapt_real *step, size_t half, const uint8_t *values, size_t part)
{
    if (half == 0)
        memcpy(step, values + part / 2 * Q8_BLOCK, Q8_BLOCK);
}

/* The bits of `mask` from bit `from` on of four bytes, for values 4 q to 4 q + 3. */
VEC uint32_t k_bits(const uint8_t *bytes, size_t q, size_t from, uint32_t mask)
{
    uint32_t four;
    memcpy(&four, bytes + 4 * q, sizeof four);
    return four >> from & mask;
}

/* Stores the lower four bits of 32 values, which are in the low or, from bit 4 on, the high halves of 32 bytes. */
VEC void k_put_low(rapt_real *step, size_t half, const uint8_t *low, size_t from)
{
    uint32_t words[Q4_QUADS];
    for (size_t q = 0; q < Q4_QUADS; q++)
        words[q] = k_bits(low, q, from, Q4_LOW);
    q4_put_values(step, half, words);
}

/* A quant_put of Q4_K. */
static void q4_put_q4_k(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at / K_PARTS * Q4_K_BYTES;
    const size_t part = at % K_PARTS;
    k_put_halves(step, half, block + 16, part);
    k_put_scales(step + Q4_K_SCALES, half, block, part);
}

/* A quant_put for Q5_K, as Q4_K with fifth bits: in 32 bytes, bit `part` is the fifth bit of the values of that part. Packed, bit
 * q of byte i belongs to value 4 q + i. */
static void q5_put_q5_k(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at / K_PARTS * Q5_K_BYTES;
    const size_t part = at % K_PARTS;
    uint32_t bits = 0;
    for (size_t q = 0; q < Q4_QUADS; q++)
        bits |= k_bits(block + 16, q, part, 0x01010101) << q;
    k_put_halves(step, half, block + 48, part);
    memcpy(step + Q4_QUADS + half, &bits, sizeof bits);
    k_put_scales(step + Q5_K_SCALES, half, block, part);
}

/* A quant_put for Q6_K: for each 128 values, the lower four bits of parts 0 and 2 share 32 bytes, and so do those for parts 1 and
 * 3; the upper two bits of all four parts share 32 bytes. Packed, bits 2 (q % 4) and 2 (q % 4) + 1 of byte i of number q / 4
 * belong to value 4 q + i. */
static void q6_put_q6_k(rapt_real *step, size_t half, const void *from, size_t at)
{
    const uint8_t *block = (const uint8_t *)from + at / K_PARTS * Q6_K_BYTES;
    const size_t part = at % K_PARTS, quarter = part % 4;
    uint32_t bits[2] = {0};
    for (size_t q = 0; q < Q4_QUADS; q++)
        bits[q / 4] |= k_bits(block + 128 + part / 4 * Q8_BLOCK, q, 2 * quarter, 0x03030303) << 2 * (q % 4);
    k_put_low(step, half, block + part / 4 * 64 + quarter % 2 * Q8_BLOCK, quarter / 2 * 4);
    for (size_t i = 0; i < 2; i++)
        memcpy(step + Q4_QUADS + 2 * half + i, &bits[i], sizeof bits[i]);
    if (half == 0)
        memcpy(step + Q6_K_SCALES, &(uint32_t){quant_two_bytes(block + 208)}, 4);
    const uint32_t factors = quant_two_bytes(block + 192 + 2 * part) ^ 0x8080;
    quant_put_half(step + Q6_K_SCALES + 1, half, factors);
}

#define K_PACK(NAME, PUT, ROWS, BYTES)                                                                                      \
    static void NAME(int format, size_t k0, size_t kc, int n, const uint8_t *const *columns, rapt_real *dst)                \
    {                                                                                                                       \
        (void)format;                                                                                                       \
        const quant_source from = {.columns = columns, .bytes = BYTES, .k0 = k0, .kc = kc, .n = n};                         \
        quant_pack(PUT, quant_finished, true, ROWS, &from, dst);                                                            \
    }

K_PACK(pack_stored_q4_k, q4_put_q4_k, K_ROWS(Q4_K_SCALES), Q4_K_BYTES)
K_PACK(pack_stored_q5_k, q5_put_q5_k, K_ROWS(Q5_K_SCALES), Q5_K_BYTES)
K_PACK(pack_stored_q6_k, q6_put_q6_k, K_ROWS(Q6_K_SCALES), Q6_K_BYTES)

#endif
