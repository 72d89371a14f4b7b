/* kernels/body/q8_body.h: one tile of C = A B whose operands are numbers of 8 bits in blocks of 32 with scales
 * (body/q8_pack.h). A block of products is summed exactly, in integers, and added to the sum as fma(scale of B * scale of A, sum
 * of the block, sum): the same bits for every ISA, however many products its instructions take at a time.
 * For the GEMM driver, through the table. An ISA defines Q8_MR rows before, beside what body/gemm_body.h wants, and its
 * primitives of integers; body/q8_lanes.h has them in plain C. */
#ifndef KERNELS_BODY_Q8_BODY_H
#define KERNELS_BODY_Q8_BODY_H

#include "kernels/body/gemm_body.h"
#include "kernels/body/q8_pack.h"

/* A block of m rows and the panels b[0 .. panels - 1]: sum[p * m + i][v] += its products. */
VEC void q8_block(const int m, const int vectors, const int panels, const int half, const rapt_real *a,
                  const rapt_real *const *b, v16 (*sum)[GEMM_VECTORS])
{
    i16 products[GEMM_ROWS][GEMM_VECTORS];
    UNROLL
    for (int i = 0; i < panels * m; i++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            products[i][v] = i_start(a + i % m * Q8_A_ROW + Q8_A_STARTS + half);
    UNROLL
    for (int q = half * Q8_QUADS / 2; q < (half + 1) * Q8_QUADS / 2; q++)
        UNROLL
        for (int p = 0; p < panels; p++)
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const i16 w = i_load(b[p] + q * GEMM_NR + 16 * v);
                UNROLL
                for (int i = 0; i < m; i++)
                    products[p * m + i][v] = i_dot(w, i_broadcast(a + i * Q8_A_ROW + q), products[p * m + i][v]);
            }
    UNROLL
    for (int p = 0; p < panels; p++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const v16 scale = v_half(b[p] + Q8_QUADS * GEMM_NR + 16 * v, half);
            UNROLL
            for (int i = 0; i < m; i++) {
                const v16 factor = v_mul(scale, v_set1(a[i * Q8_A_ROW + Q8_A_SCALES + half]));
                sum[p * m + i][v] = v_fma(factor, v_of_i(products[p * m + i][v]), sum[p * m + i][v]);
            }
        }
}

/* The panels are `panel` numbers apart. */
VEC void q8_sums(const int m, const int vectors, const int panels, size_t kc, const rapt_real *a, const rapt_real *b,
                 size_t panel, v16 (*sum)[GEMM_VECTORS])
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
    for (size_t k = 0; k < kc; k += Q8_STEP, a += Q8_A_STEP) {
        q8_block(m, vectors, panels, 0, a, from, sum);
        q8_block(m, vectors, panels, 1, a, from, sum);
        UNROLL
        for (int p = 0; p < panels; p++)
            from[p] += Q8_STEP * GEMM_NR;
    }
}

VEC void q8_rows(const int m, const int vectors, int n, const gemm_operands *o, rapt_real *c, ptrdiff_t ldc,
                 const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_ROWS][GEMM_VECTORS];
    q8_sums(m, vectors, 1, o->kc, o->a, o->b, 0, sum);
    gemm_finish(m, vectors, n % 16 == 0 ? 16 : (size_t)n % 16, sum, c, ldc, epilogue);
}

/* A function for each number of rows, so that the sums are registers. */
#define Q8_FUNCTION(M)                                                                                                  \
    static __attribute__((noinline)) void q8_tile_##M(int n, const gemm_operands *o, rapt_real *c, ptrdiff_t ldc,       \
                                                      const kernels_epilogue *epilogue)                                 \
    {                                                                                                                   \
        if (M > Q8_MR)                                                                                                  \
            return;                                                                                                     \
        if (GEMM_VECTORS > 1 && n <= 16)                                                                                \
            q8_rows(M, 1, n, o, c, ldc, epilogue);                                                                      \
        else                                                                                                            \
            q8_rows(M, GEMM_VECTORS, n, o, c, ldc, epilogue);                                                           \
    }
Q8_FUNCTION(1)
Q8_FUNCTION(2)
Q8_FUNCTION(3)
Q8_FUNCTION(4)
Q8_FUNCTION(5)
Q8_FUNCTION(6)

static void gemm_tile_q8(int m, int n, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, const rapt_real *b,
                         ptrdiff_t b_row, rapt_real *c, ptrdiff_t ldc, const kernels_epilogue *epilogue)
{
    static gemm_function *const functions[] = {q8_tile_1, q8_tile_2, q8_tile_3, q8_tile_4, q8_tile_5, q8_tile_6};
    const gemm_operands o = {.kc = kc, .a = a, .b = b};
    (void)a_row;
    (void)a_col;
    (void)b_row;
    functions[m - 1](n, &o, c, ldc, epilogue);
}

VEC void q8_streams(const int panels, size_t kc, const rapt_real *a, const rapt_real *b, size_t panel, rapt_real *c,
                    const kernels_epilogue *epilogue)
{
    v16 sum[GEMM_STREAMS][GEMM_VECTORS];
    q8_sums(1, GEMM_VECTORS, panels, kc, a, b, panel, sum);
    UNROLL
    for (int p = 0; p < panels; p++) {
        const rapt_real *bias = epilogue->bias ? epilogue->bias + p * GEMM_NR : NULL;
        const kernels_epilogue part = {epilogue->accumulate, bias, epilogue->relu};
        gemm_finish(1, GEMM_VECTORS, 16, sum + p, c + p * GEMM_NR, 0, &part);
    }
}

static void gemm_row_q8(size_t panels, size_t kc, const rapt_real *a, ptrdiff_t a_col, const rapt_real *b, size_t panel,
                        rapt_real *c, const kernels_epilogue *epilogue)
{
    (void)a_col;
    for (size_t done = 0; done < panels; done += GEMM_STREAMS) {
        const rapt_real *from = b + done * panel;
        kernels_epilogue part = *epilogue;
        part.bias = epilogue->bias ? epilogue->bias + done * GEMM_NR : NULL;
        if (panels - done >= GEMM_STREAMS)
            q8_streams(GEMM_STREAMS, kc, a, from, panel, c + done * GEMM_NR, &part);
        else
            q8_streams(1, kc, a, from, panel, c + done * GEMM_NR, &part);
    }
}

#define Q8_GEMM(NAME)                                                                                                  \
    {                                                                                                                  \
        .name = NAME, .mr = Q8_MR, .nr = GEMM_NR, .a_stride = 1, .pair = 4, .step = Q8_QUADS, .scales = 1,             \
        .gemm_tile = gemm_tile_q8, .gemm_row = gemm_row_q8, .pack_a = pack_a_q8, .pack_b = pack_b_q8                   \
    }

#endif
