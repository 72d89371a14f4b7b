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

#define QUANT_STEPS (KERNELS_K_BLOCK / (2 * Q8_BLOCK)) /* most steps of a panel */
#define QUANT_COLUMN 24 /* room for a column's numbers of a step, at most QUANT_QUADS + 1 */

#define QUANT_UNIT 256 /* values whose bytes are a whole number in every format */
#define QUANT_AHEAD 4  /* columns from the prefetch of a column to its packing */

/* Stores a block of a column in its half of `step`, the column's numbers of a step of two blocks. `from`: 32 numbers, or the
 * beginning of a row of GGUF blocks, in which it is block number `at`. */
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

/* Stores a step of 16 columns, `rows` rows of GEMM_NR numbers. Numbers of a column that were stored one by one would be a row
 * apart. */
VEC void quant_turn(const rapt_real (*columns)[QUANT_COLUMN], const size_t rows, rapt_real *dst)
{
    v16 r[16];
    UNROLL
    for (size_t i = 0; i < 16; i++)
        r[i] = v_load(columns[i]);
    v_transpose(r);
    UNROLL
    for (size_t q = 0; q < 16; q++)
        if (q < rows)
            v_store(dst + q * GEMM_NR, r[q]);
    for (size_t q = 16; q < rows; q++)
        for (size_t i = 0; i < 16; i++)
            memcpy(dst + q * GEMM_NR + i, &columns[i][q], sizeof *dst);
}

/* Packs a panel: steps of `rows` rows of GEMM_NR numbers. Columns from n on, and the rest of a short last block, are zeros. */
VEC void quant_pack(quant_put *put, const size_t rows, size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col,
                    rapt_real *dst)
{
    rapt_real steps[QUANT_STEPS][16][QUANT_COLUMN];
    const size_t count = (kc + 2 * Q8_BLOCK - 1) / (2 * Q8_BLOCK);
    for (int j0 = 0; j0 < GEMM_NR; j0 += 16) {
        for (int j = j0; j < j0 + 16; j++)
            for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
                float block[Q8_BLOCK] = {0};
                for (size_t i = 0; i < Q8_BLOCK && k + i < kc && j < n; i++)
                    block[i] = b[(ptrdiff_t)(k + i) * b_row + j * b_col];
                put(steps[k / (2 * Q8_BLOCK)][j - j0], half, block, 0);
            }
        for (size_t step = 0; step < count; step++)
            quant_turn(steps[step], rows, dst + step * rows * GEMM_NR + j0);
    }
}

/* Prefetches what is packed from column j, rows k0 .. k0 + kc - 1; after the last column, the first columns' rows after them. */
VEC void quant_pack_ahead(const size_t bytes, size_t k0, size_t kc, int j, int n, const uint8_t *const *columns)
{
    if (j >= GEMM_NR) {
        j -= GEMM_NR;
        k0 += kc;
    }
    if (j >= n)
        return;
    const uint8_t *from = columns[j] + k0 * bytes / QUANT_UNIT;
    for (size_t i = 0; i < kc * bytes / QUANT_UNIT; i += 64)
        __builtin_prefetch(from + i);
}

/* quant_pack for columns that are stored as blocks, QUANT_UNIT values in `bytes`: rows k0 .. k0 + kc - 1, which are whole blocks.
 * A column is a short piece of a row of the file, so the hardware prefetcher starts anew with each. `zeros` stores numbers. */
VEC void quant_pack_stored(quant_put *put, quant_put *zeros, const size_t rows, const size_t bytes, size_t k0, size_t kc,
                           int n, const uint8_t *const *columns, rapt_real *dst)
{
    static const float nothing[Q8_BLOCK];
    rapt_real steps[QUANT_STEPS][16][QUANT_COLUMN];
    const size_t count = (kc + 2 * Q8_BLOCK - 1) / (2 * Q8_BLOCK);
    for (int j0 = 0; j0 < GEMM_NR; j0 += 16) {
        for (int j = j0; j < j0 + 16; j++) {
            quant_pack_ahead(bytes, k0, kc, j + QUANT_AHEAD, n, columns);
            for (size_t k = 0, half = 0; k < kc || half == 1; k += Q8_BLOCK, half ^= 1) {
                rapt_real *step = steps[k / (2 * Q8_BLOCK)][j - j0];
                if (j < n && k < kc)
                    put(step, half, columns[j], (k0 + k) / Q8_BLOCK);
                else
                    zeros(step, half, nothing, 0);
            }
        }
        for (size_t step = 0; step < count; step++)
            quant_turn(steps[step], rows, dst + step * rows * GEMM_NR + j0);
    }
}

#endif
