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

#define QUANT_COLUMN 24 /* room for a column's numbers of a step, at most QUANT_QUADS + 1 */

#define QUANT_UNIT 256 /* values whose bytes are a whole number in every format */

/* Stores a block of a column in its half of `step`, the column's numbers of a step of two blocks. `from`: 32 numbers, or the
 * beginning of a row of GGUF blocks, in which it is block number `at`. Blocks of 256 values are eight, and their steps whole: the
 * call for the first half may store what both share. */
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

/* Makes packed numbers from the ones that a quant_put stored, if it left that to vectors; rows[q] has number q of 16 columns. */
typedef void quant_finish(v16 rows[16]);

VEC void quant_finished(v16 rows[16]) { (void)rows; }

/* Stores a step of 16 columns, `rows` rows of GEMM_NR numbers. Numbers of a column that were stored one by one would be a row
 * apart. */
VEC void quant_turn(rapt_real (*columns)[QUANT_COLUMN], quant_finish *finish, const size_t rows, rapt_real *dst)
{
    v16 r[16];
    UNROLL
    for (size_t i = 0; i < 16; i++)
        r[i] = v_load(columns[i]);
    v_transpose(r);
    finish(r);
    UNROLL
    for (size_t q = 0; q < 16; q++)
        if (q < rows)
            v_store(dst + q * GEMM_NR, r[q]);
    for (size_t q = 16; q < rows; q++)
        for (size_t i = 0; i < 16; i++)
            memcpy(dst + q * GEMM_NR + i, &columns[i][q], sizeof *dst);
}

/* What is packed: rows k0 .. k0 + kc - 1 of n columns. */
typedef struct quant_source {
    const uint8_t *const *columns; /* that are stored as blocks, QUANT_UNIT values in `bytes`; kc is whole blocks; */
    const rapt_real *b;            /* or row k0 of numbers */
    ptrdiff_t b_row, b_col;
    size_t bytes, k0, kc;
    int n;
} quant_source;

/* Prefetches, into the L2 cache, what lies KERNELS_AHEAD bytes after a share of 16 columns: the share that the step at row k has.
 * Columns are rows of a file and follow one another: those bytes are packed soon. Memory delivers them in the order of the file
 * twice as fast as in the order in which they are packed. */
VEC void quant_pack_ahead(const quant_source *s, int j0, size_t k)
{
    const size_t first = 16 * k / s->kc, end = 16 * (k + 2 * Q8_BLOCK) / s->kc;
    for (size_t i = first; i < end && i < 16 && j0 + (int)i < s->n; i++) {
        const uintptr_t from = (uintptr_t)s->columns[j0 + (int)i] + s->k0 * s->bytes / QUANT_UNIT + KERNELS_AHEAD;
        for (size_t at = 0; at < s->kc * s->bytes / QUANT_UNIT; at += 64)
            __builtin_prefetch((const void *)(from + at), 0, 2); /* an address, not a pointer: it may be behind the file */
    }
}

/* Stores the block of column j that begins at row k0 + k; of numbers the last one may be short. */
VEC void quant_put_block(quant_put *put, const bool stored, const quant_source *s, int j, size_t k, rapt_real *step, size_t half)
{
    float block[Q8_BLOCK] = {0};
    for (size_t i = 0; !stored && i < Q8_BLOCK && k + i < s->kc; i++)
        block[i] = s->b[(ptrdiff_t)(k + i) * s->b_row + j * s->b_col];
    put(step, half, stored ? (const void *)s->columns[j] : block, stored ? (s->k0 + k) / Q8_BLOCK : 0);
}

/* Packs a panel: steps of `rows` rows of GEMM_NR numbers. Columns from n on, and the second half of a last step that has none,
 * are zeros, and so are their scales. */
VEC void quant_pack(quant_put *put, quant_finish *finish, const bool stored, const size_t rows, const quant_source *s,
                    rapt_real *dst)
{
    for (int j0 = 0; j0 < GEMM_NR; j0 += 16)
        for (size_t k = 0; k < s->kc; k += 2 * Q8_BLOCK) {
            const bool second = s->kc - k > Q8_BLOCK;
            rapt_real step[16][QUANT_COLUMN];
            if (stored)
                quant_pack_ahead(s, j0, k);
            if (s->n - j0 < 16 || !second)
                memset(step, 0, sizeof step);
            for (int j = j0; j < j0 + 16 && j < s->n; j++) {
                quant_put_block(put, stored, s, j, k, step[j - j0], 0);
                if (second)
                    quant_put_block(put, stored, s, j, k + Q8_BLOCK, step[j - j0], 1);
            }
            quant_turn(step, finish, rows, dst + k / (2 * Q8_BLOCK) * rows * GEMM_NR + j0);
        }
}

#endif
