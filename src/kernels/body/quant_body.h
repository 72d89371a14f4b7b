/* kernels/body/quant_body.h: one tile of C = A B with quantized weights. B has integers of 8 to 4 bits in blocks of 32 (Q6_K: 16)
 * with scales (body/q8_pack.h, body/q4_pack.h, body/k_pack.h); A has 8-bit integers (body/quant_pack.h). A block of products is
 * summed exactly, in integers, and added to the sum as fma(scale of B * scale of A, sum of the block, sum): the same bits for
 * every ISA, however many products its instructions take at a time. For the GEMM driver, through the table. An ISA first defines
 * QUANT_MR rows, what body/gemm_body.h needs, and its primitives for integers; body/quant_lanes.h has them in plain C. */
#ifndef KERNELS_BODY_QUANT_BODY_H
#define KERNELS_BODY_QUANT_BODY_H

#include "kernels/body/gemm_body.h"
#include "kernels/body/k_pack.h"
#include "kernels/body/q8_pack.h"

enum { QUANT_Q8_0, QUANT_Q4_0, QUANT_Q4_K, QUANT_Q5_K, QUANT_Q6_K };

/* The row of a step of B that holds scales, and the number of rows of a step. */
#define QUANT_SCALES(TYPE)                                                                                            \
    ((TYPE) == QUANT_Q8_0 ? QUANT_QUADS                                                                               \
     : (TYPE) == QUANT_Q5_K ? Q5_K_SCALES : (TYPE) == QUANT_Q6_K ? Q6_K_SCALES : Q4_QUADS) /* Q4_0, Q4_K */
#define QUANT_ROWS(TYPE) (QUANT_SCALES(TYPE) + ((TYPE) == QUANT_Q8_0 || (TYPE) == QUANT_Q4_0 ? 1 : 2))
#define QUANT_HAS_MINIMUM(TYPE) ((TYPE) == QUANT_Q4_K || (TYPE) == QUANT_Q5_K)
#define QUANT_PARTS(TYPE) ((TYPE) == QUANT_Q6_K ? 2 : 1) /* parts of 32 products that have their own scales */

/* Four weights of block `half` for each of 16 columns. */
VEC v16i quant_load(const int type, const rapt_real *b, int quad, const int half)
{
    if (type == QUANT_Q8_0)
        return i_load(b + (half * QUANT_QUADS / 2 + quad) * GEMM_NR);
    const v16i low = i_bits(i_load(b + quad * GEMM_NR), 4 * half, 0x0f0f0f0f);
    if (type == QUANT_Q5_K)
        return i_or(low, i_bits(i_load(b + (Q4_QUADS + half) * GEMM_NR), quad - 4, 0x10101010));
    if (type == QUANT_Q6_K)
        return i_or(low, i_bits(i_load(b + (Q4_QUADS + 2 * half + quad / 4) * GEMM_NR), quad % 4 * 2 - 4, 0x30303030));
    return low;
}

/* The start value of the sum for a row and 16 columns, which compensates for the 128, 8 or 32 that 8-bit, Q4_0 and Q6_K weights
 * have added. */
VEC v16i quant_start(const int type, const rapt_real *a, const int half, const int part)
{
    return type == QUANT_Q8_0   ? i_start(a + QUANT_A_STARTS + half)
           : type == QUANT_Q4_0 ? i_broadcast(a + QUANT_A_SMALL + half)
           : type == QUANT_Q6_K ? i_broadcast(a + QUANT_A_PARTS + 2 * half + part)
                                : i_zero();
}

/* How many quads of weights are summed in 16 bits, two sums a lane (v_pairs), before they are added to 32 bits: the greatest
 * weight, 15, 31 or 63, times 127, times two, times as many stays below 2^15. 1: weights of 8 bits, and ISAs whose dot products
 * add to 32 bits anyway. */
#ifdef VEC_PAIRS
#define QUANT_TOGETHER(TYPE) \
    ((TYPE) == QUANT_Q8_0 ? 1 : (TYPE) == QUANT_Q6_K ? 2 : (TYPE) == QUANT_Q5_K ? 4 : 8) /* Q4_0, Q4_K */
#else
#define QUANT_TOGETHER(TYPE) 1
typedef v16i v_pairs;
VEC v_pairs i_pairs(v16i w, v16i a) { return i_dot_small(w, a, i_zero()); }
VEC v_pairs i_pairs_add(v16i w, v16i a, v_pairs sum) { return i_dot_small(w, a, sum); }
VEC v16i i_of_pairs(v_pairs pairs, v16i sum) { return (void)pairs, sum; }
#endif

/* sum + the products of quad number `quad`; *pairs has the earlier ones of its group. */
VEC v16i quant_dot(const int type, const int quad, v16i w, v16i a, v_pairs *pairs, v16i sum)
{
    const int together = QUANT_TOGETHER(type), at = quad % together;
    if (together == 1)
        return type == QUANT_Q8_0 ? i_dot(w, a, sum) : i_dot_small(w, a, sum);
    *pairs = at ? i_pairs_add(w, a, *pairs) : i_pairs(w, a);
    return at == together - 1 ? i_of_pairs(*pairs, sum) : sum;
}

/* For each of 16 columns, the 8-bit integer from bit `from` on in the number after the scales. */
VEC v16 quant_factor(const int type, const rapt_real *b, const int from)
{
    return v_of_i(i_bits(i_load(b + (QUANT_SCALES(type) + 1) * GEMM_NR), from, 0xff));
}

/* The scales of 16 columns. */
VEC v16 quant_scale(const int type, const rapt_real *b, const int half, const int part)
{
    if (type == QUANT_Q8_0 || type == QUANT_Q4_0)
        return v_widen_f16(b + QUANT_SCALES(type) * GEMM_NR, half);
    const v16 all = v_widen_f16(b + QUANT_SCALES(type) * GEMM_NR, 0);
    if (type == QUANT_Q6_K)
        return v_mul(all, v_add(quant_factor(type, b, 16 * half + 8 * part), v_set1(-128)));
    return v_mul(all, quant_factor(type, b, 16 * half));
}

/* The minimum that is subtracted from the weights of each of 16 columns. */
VEC v16 quant_minimum(const int type, const rapt_real *b, const int half)
{
    return v_mul(v_widen_f16(b + QUANT_SCALES(type) * GEMM_NR, 1), quant_factor(type, b, 16 * half + 8));
}

/* -1 times the sum of a block of activations. */
VEC v16 quant_total(const rapt_real *a, const int half)
{
    return v_mul(v_of_i(i_broadcast(a + QUANT_A_SMALL + half)), v_set1(0.125f));
}

/* sum[i][v] -= the minima of 16 columns times the sum of a block of row i. */
VEC void quant_less_minimum(const int type, const int m, const int v, const int half, const rapt_real *a, const rapt_real *b,
                            v16 (*sum)[GEMM_VECTORS])
{
    const v16 minimum = quant_minimum(type, b, half);
    UNROLL
    for (int i = 0; i < m; i++) {
        const v16 factor = v_mul(minimum, v_set1(a[i * QUANT_A_ROW + QUANT_A_SCALES + half]));
        sum[i][v] = v_fma(factor, quant_total(a + i * QUANT_A_ROW, half), sum[i][v]);
    }
}

/* sum[p * m + i][v] += the products of a block, whose integers are added already. */
VEC void quant_scaled(const int type, const int m, const int vectors, const int panels, const int half, const int part,
                      const rapt_real *a, const rapt_real *const *b, v16i (*products)[GEMM_VECTORS], v16 (*sum)[GEMM_VECTORS])
{
    UNROLL
    for (int p = 0; p < panels; p++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const v16 scale = quant_scale(type, b[p] + 16 * v, half, part);
            UNROLL
            for (int i = 0; i < m; i++) {
                const v16 factor = v_mul(scale, v_set1(a[i * QUANT_A_ROW + QUANT_A_SCALES + half]));
                sum[p * m + i][v] = v_fma(factor, v_of_i(products[p * m + i][v]), sum[p * m + i][v]);
            }
            if (QUANT_HAS_MINIMUM(type))
                quant_less_minimum(type, m, v, half, a, b[p] + 16 * v, sum + p * m);
        }
}

/* sum[p * m + i][v] += the products of one part of a block of 32 with its own scales, for m rows and the panels b[0 .. panels -
 * 1]. */
VEC void quant_part(const int type, const int m, const int vectors, const int panels, const int half, const int part,
                    const rapt_real *a, const rapt_real *const *b, v16 (*sum)[GEMM_VECTORS])
{
    const int quads = QUANT_QUADS / 2 / QUANT_PARTS(type);
    v16i products[GEMM_ROWS][GEMM_VECTORS];
    v_pairs pairs[GEMM_ROWS][GEMM_VECTORS];
    UNROLL
    for (int i = 0; i < panels * m; i++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            products[i][v] = quant_start(type, a + i % m * QUANT_A_ROW, half, part);
    UNROLL
    for (int q = part * quads; q < (part + 1) * quads; q++)
        UNROLL
        for (int p = 0; p < panels; p++)
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const v16i w = quant_load(type, b[p] + 16 * v, q, half);
                UNROLL
                for (int i = 0; i < m; i++) {
                    const v16i x = i_broadcast(a + i * QUANT_A_ROW + half * QUANT_QUADS / 2 + q);
                    products[p * m + i][v] = quant_dot(type, q, w, x, &pairs[p * m + i][v], products[p * m + i][v]);
                }
            }
    quant_scaled(type, m, vectors, panels, half, part, a, b, products, sum);
}

VEC void quant_block(const int type, const int m, const int vectors, const int panels, const int half, const rapt_real *a,
                     const rapt_real *const *b, v16 (*sum)[GEMM_VECTORS])
{
    quant_part(type, m, vectors, panels, half, 0, a, b, sum);
    if (QUANT_PARTS(type) > 1)
        quant_part(type, m, vectors, panels, half, 1, a, b, sum);
}

/* A few rows, as in a decoding batch, make two tiles that read a panel, or more where a tile has two rows; the first gets it
 * from memory, so the next panel is prefetched meanwhile. Later tiles prefetch it again, at no cost that was measured. A single
 * row that reads several short panels also prefetches the next ones, because the hardware prefetcher starts anew with each. */
#define QUANT_IS_FEW(M) ((M) == 3 || (M) == 4 || ((M) == 2 && QUANT_MR == 2))
#define QUANT_IS_SHORT(TYPE) ((TYPE) != QUANT_Q8_0 || GEMM_VECTORS == 1)

/* Prefetches a step of the panel that begins `distance` numbers after this one: into the L1 cache, or if this one will be read
 * again first, into the L2 cache. */
VEC void quant_ahead(const int type, size_t distance, const rapt_real *b, const bool near)
{
    for (int i = 0; i < QUANT_ROWS(type) * GEMM_VECTORS; i++)
        if (near)
            __builtin_prefetch(b + distance + 16 * i, 0, 3);
        else
            __builtin_prefetch(b + distance + 16 * i, 0, 2);
}

/* The panels are `panel` numbers apart. */
VEC void quant_sums(const int type, const int m, const int vectors, const int panels, size_t kc, const rapt_real *a,
                    const rapt_real *b, size_t panel, v16 (*sum)[GEMM_VECTORS])
{
    const rapt_real *from[GEMM_STREAMS];
    UNROLL
    for (int p = 0; p < panels; p++)
        from[p] = b + (size_t)p * panel;
    UNROLL
    for (int i = 0; i < panels * m; i++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = v_zero();
    for (size_t k = 0; k < kc; k += QUANT_ROWS(type), a += QUANT_A_STEP) {
        if (QUANT_IS_FEW(m))
            quant_ahead(type, kc * GEMM_NR, from[0], false);
        UNROLL
        for (int p = 0; p < panels; p++)
            if (panels > 1 && QUANT_IS_SHORT(type))
                quant_ahead(type, (size_t)panels * panel, from[p], true);
        quant_block(type, m, vectors, panels, 0, a, from, sum);
        quant_block(type, m, vectors, panels, 1, a, from, sum);
        UNROLL
        for (int p = 0; p < panels; p++)
            from[p] += QUANT_ROWS(type) * GEMM_NR;
    }
}

VEC void quant_rows(const int type, const int m, const int vectors, int n, const gemm_operands *o, rapt_real *c, ptrdiff_t ldc,
                    const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_ROWS][GEMM_VECTORS];
    quant_sums(type, m, vectors, 1, o->kc, o->a, o->b, 0, sum);
    gemm_finish(m, vectors, n % 16 == 0 ? 16 : (size_t)n % 16, sum, c, ldc, epilogue);
}

/* A function for each number of rows, so that the sums are registers. */
#define QUANT_FUNCTION(NAME, TYPE, M)                                                                                 \
    static __attribute__((noinline)) void NAME##_##M(int n, const gemm_operands *o, rapt_real *c, ptrdiff_t ldc,      \
                                                     const kernels_epilogue *epilogue)                                \
    {                                                                                                                 \
        if (M > QUANT_MR)                                                                                             \
            return;                                                                                                   \
        if (GEMM_VECTORS > 1 && n <= 16)                                                                              \
            quant_rows(TYPE, M, 1, n, o, c, ldc, epilogue);                                                           \
        else                                                                                                          \
            quant_rows(TYPE, M, GEMM_VECTORS, n, o, c, ldc, epilogue);                                                \
    }

VEC void quant_streams(const int type, const int panels, size_t kc, const rapt_real *a, const rapt_real *b, size_t panel,
                       rapt_real *c, const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_STREAMS][GEMM_VECTORS];
    quant_sums(type, 1, GEMM_VECTORS, panels, kc, a, b, panel, sum);
    UNROLL
    for (int p = 0; p < panels; p++) {
        const rapt_real *bias = epilogue->bias ? epilogue->bias + p * GEMM_NR : NULL;
        const kernels_epilogue part = {epilogue->accumulate, bias, epilogue->relu};
        gemm_finish(1, GEMM_VECTORS, 16, sum + p, c + p * GEMM_NR, 0, &part);
    }
}

VEC void quant_row(const int type, size_t panels, size_t kc, const rapt_real *a, const rapt_real *b, size_t panel,
                   rapt_real *c, const kernels_epilogue *epilogue)
{
    for (size_t done = 0; done < panels; done += GEMM_STREAMS) {
        const rapt_real *from = b + done * panel;
        kernels_epilogue part = *epilogue;
        part.bias = epilogue->bias ? epilogue->bias + done * GEMM_NR : NULL;
        if (panels - done >= GEMM_STREAMS)
            quant_streams(type, GEMM_STREAMS, kc, a, from, panel, c + done * GEMM_NR, &part);
        else
            quant_streams(type, 1, kc, a, from, panel, c + done * GEMM_NR, &part);
    }
}

/* gemm_tile and gemm_row of a type: see kernels_gemm. */
#define QUANT_GEMM(NAME, TYPE)                                                                                        \
    QUANT_FUNCTION(tile_##NAME, TYPE, 1)                                                                              \
    QUANT_FUNCTION(tile_##NAME, TYPE, 2)                                                                              \
    QUANT_FUNCTION(tile_##NAME, TYPE, 3)                                                                              \
    QUANT_FUNCTION(tile_##NAME, TYPE, 4)                                                                              \
    QUANT_FUNCTION(tile_##NAME, TYPE, 5)                                                                              \
    QUANT_FUNCTION(tile_##NAME, TYPE, 6)                                                                              \
    static void gemm_tile_##NAME(int m, int n, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col,       \
                                 const rapt_real *b, ptrdiff_t b_row, rapt_real *c, ptrdiff_t ldc,                    \
                                 const kernels_epilogue *epilogue)                                                    \
    {                                                                                                                 \
        static gemm_function *const functions[] = {tile_##NAME##_1, tile_##NAME##_2, tile_##NAME##_3,                 \
                                                   tile_##NAME##_4, tile_##NAME##_5, tile_##NAME##_6};                \
        const gemm_operands o = {.kc = kc, .a = a, .b = b};                                                           \
        (void)a_row, (void)a_col, (void)b_row;                                                                        \
        functions[m - 1](n, &o, c, ldc, epilogue);                                                                    \
    }                                                                                                                 \
    static void gemm_row_##NAME(size_t panels, size_t kc, const rapt_real *a, ptrdiff_t a_col, const rapt_real *b,    \
                                size_t panel, rapt_real *c, const kernels_epilogue *epilogue)                         \
    {                                                                                                                 \
        (void)a_col;                                                                                                  \
        quant_row(TYPE, panels, kc, a, b, panel, c, epilogue);                                                        \
    }

QUANT_GEMM(q8_0, QUANT_Q8_0)
QUANT_GEMM(q4_0, QUANT_Q4_0)
QUANT_GEMM(q4_k, QUANT_Q4_K)
QUANT_GEMM(q5_k, QUANT_Q5_K)
QUANT_GEMM(q6_k, QUANT_Q6_K)

#define QUANT_TABLE(KERNELS, NAME, QUADS, SCALES, PACK_B, PACK_STORED, ...)                                              \
    {                                                                                                                    \
        .name = KERNELS, .mr = QUANT_MR, .nr = GEMM_NR, .a_stride = 1, .pair = 4 * QUANT_QUADS / (QUADS), .step = QUADS, \
        .scales = SCALES, .a_row = QUANT_A_ROW, .gemm_tile = gemm_tile_##NAME, .gemm_row = gemm_row_##NAME,              \
        .pack_a = pack_a_quant, .pack_b = PACK_B, .stored = {__VA_ARGS__}, .pack_stored = PACK_STORED                    \
    }

/* The kernels of all types: see kernels_quantized. */
#define QUANT_TABLES(NAME)                                                                                            \
    {                                                                                                                 \
        .q8_0 = QUANT_TABLE(NAME, q8_0, QUANT_QUADS, 1, pack_b_q8, pack_stored_q8, KERNELS_Q8_0, KERNELS_Q5_0),       \
        .q4_0 = QUANT_TABLE(NAME, q4_0, Q4_QUADS, 1, pack_b_q4, pack_stored_q4_0, KERNELS_Q4_0),                      \
        .q4_k = QUANT_TABLE(NAME, q4_k, Q4_QUADS, K_ROWS(Q4_K_SCALES) - Q4_QUADS, NULL, pack_stored_q4_k, KERNELS_Q4_K), \
        .q5_k = QUANT_TABLE(NAME, q5_k, Q4_QUADS, K_ROWS(Q5_K_SCALES) - Q4_QUADS, NULL, pack_stored_q5_k, KERNELS_Q5_K), \
        .q6_k = QUANT_TABLE(NAME, q6_k, Q4_QUADS, K_ROWS(Q6_K_SCALES) - Q4_QUADS, NULL, pack_stored_q6_k, KERNELS_Q6_K), \
    }

#endif
