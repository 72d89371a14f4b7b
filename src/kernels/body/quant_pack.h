/* kernels/body/quant_pack.h: rounds activations, operand A of a product of quantized weights, to integers of 8 bits in blocks of
 * 32 along K, each with a scale, in the layout that the tile of body/quant_body.h reads. Also has what the packing of weights
 * (body/q8_pack.h, body/q4_pack.h) shares with it. For the GEMM driver, through the table. Loops over whole blocks in plain C,
 * which compilers vectorize, so that one source serves all ISAs. */
#ifndef KERNELS_BODY_QUANT_PACK_H
#define KERNELS_BODY_QUANT_PACK_H

#include "kernels/body/q8_block.h"

#define QUANT_QUADS (2 * Q8_BLOCK / 4)    /* in a step of two blocks of A: packed numbers of 4 values each; after them */
#define QUANT_A_SCALES QUANT_QUADS        /* two scales, and two integers, */
#define QUANT_A_STARTS (QUANT_QUADS + 2)  /* -128 times the sums of the values of the blocks, */
#define QUANT_A_SMALL (QUANT_QUADS + 4)   /* two, -8 times the sums, */
#define QUANT_A_PARTS (QUANT_QUADS + 6)   /* and four, -32 times the sums of halves of the blocks */
#define QUANT_A_STEP (QUANT_QUADS + 10)
#define QUANT_A_ROW (KERNELS_K_BLOCK / (2 * Q8_BLOCK) * QUANT_A_STEP)

/* The integers of half a block; returns their sum. */
VEC int32_t quant_values(const float *x, float factor, int8_t *values)
{
    int32_t sum = 0;
    for (int i = 0; i < Q8_BLOCK / 2; i++) {
        const int32_t value = (int32_t)q8_nearest(x[i] * factor);
        values[i] = (int8_t)value;
        sum += value;
    }
    return sum;
}

/* A block that has a number that is not finite gets a scale that is not, and values of 0. */
VEC void quant_activations(const float *x, float *step, size_t half)
{
    const uint32_t largest = q8_largest(x);
    const float most = half_of_bits(largest);
    int8_t values[Q8_BLOCK];
    int32_t first = 0, second = 0; /* sums of either half of the block */
    const bool usual = largest < Q8_NOT_FINITE && most >= Q8_LEAST;
    if (usual) {
        first = quant_values(x, 127 / most, values);
        second = quant_values(x + Q8_BLOCK / 2, 127 / most, values + Q8_BLOCK / 2);
    } else
        memset(values, 0, sizeof values);
    step[QUANT_A_SCALES + half] = usual ? most / 127 : largest < Q8_NOT_FINITE ? 0 : half_of_bits(0x7fc00000);
    memcpy(step + half * QUANT_QUADS / 2, values, sizeof values);
    memcpy(step + QUANT_A_STARTS + half, &(int32_t){-128 * (first + second)}, sizeof first);
    memcpy(step + QUANT_A_SMALL + half, &(int32_t){-8 * (first + second)}, sizeof first);
    memcpy(step + QUANT_A_PARTS + 2 * half, (int32_t[2]){-32 * first, -32 * second}, 2 * sizeof first);
}

/* dst[i * QUANT_A_ROW + ...]: steps of two blocks, QUANT_A_STEP numbers each. */
static kernels_strides pack_a_quant(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst)
{
    for (int i = 0; i < m; i++, a += a_row, dst += QUANT_A_ROW)
        for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
            float block[Q8_BLOCK] = {0}, *step = dst + k / (2 * Q8_BLOCK) * QUANT_A_STEP;
            const rapt_real *from = a + (ptrdiff_t)k * a_col;
            const size_t count = k < kc ? (kc - k < Q8_BLOCK ? kc - k : Q8_BLOCK) : 0;
            const bool whole = a_col == 1 && count == Q8_BLOCK;
            for (size_t j = 0; j < count && !whole; j++)
                block[j] = from[(ptrdiff_t)j * a_col];
            quant_activations(whole ? from : block, step, half);
        }
    return (kernels_strides){QUANT_A_ROW, 1};
}

/* ---- B ---------------------------------------------------------------------------------------------------------------- */

/* Stores a block of a column in its half of `step`, a step of two blocks. `from`: 32 numbers, or the beginning of a row of GGUF
 * blocks, in which it is block number `at`. */
typedef void quant_put(rapt_real *step, size_t half, const void *from, size_t at);

/* The bits of two halves lie in one number, the first one low. */
VEC void quant_put_half(rapt_real *to, size_t half, uint32_t bits)
{
    uint32_t both = 0;
    if (half)
        memcpy(&both, to, sizeof both);
    both |= bits << 16 * half;
    memcpy(to, &both, sizeof both);
}

VEC uint32_t quant_two_bytes(const uint8_t *from) { return from[0] | (uint32_t)from[1] << 8; }

/* Packs a panel: steps of `rows` rows of GEMM_NR numbers. Columns from n on, and the rest of a short last block, are zeros. */
VEC void quant_pack(quant_put *put, size_t rows, size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col,
                    rapt_real *dst)
{
    for (int j = 0; j < GEMM_NR; j++)
        for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
            float block[Q8_BLOCK] = {0};
            for (size_t i = 0; i < Q8_BLOCK && k + i < kc && j < n; i++)
                block[i] = b[(ptrdiff_t)(k + i) * b_row + j * b_col];
            put(dst + k / (2 * Q8_BLOCK) * rows * GEMM_NR + j, half, block, 0);
        }
}

/* quant_pack for columns that are stored as blocks: rows k0 .. k0 + kc - 1, which are whole blocks. `zeros` stores numbers. */
VEC void quant_pack_stored(quant_put *put, quant_put *zeros, size_t rows, size_t k0, size_t kc, int n,
                           const uint8_t *const *columns, rapt_real *dst)
{
    static const float nothing[Q8_BLOCK];
    for (int j = 0; j < GEMM_NR; j++)
        for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
            rapt_real *step = dst + k / (2 * Q8_BLOCK) * rows * GEMM_NR + j;
            if (j < n && k < kc)
                put(step, half, columns[j], (k0 + k) / Q8_BLOCK);
            else
                zeros(step, half, nothing, 0);
        }
}

#endif
