/* kernels/body/pack.h: copies an operand of the GEMM into panels that the tile reads front to back.
 * For the GEMM driver, through the table.
 * Not the layout of a whole matrix: a call packs one panel. */
#ifndef KERNELS_BODY_PACK_H
#define KERNELS_BODY_PACK_H

/* dst[k * stride + i] = src[i + k * step], 0 for count <= i < stride (stride <= 16 * GEMM_VECTORS). */
VEC void pack_straight(size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride,
                       rapt_real *dst)
{
    for (size_t k = 0; k < kc; k++)
        EACH_VECTOR(i, lanes, stride) {
            size_t have = count <= i ? 0 : count - i < 16 ? count - i : 16;
            v_store_n(dst + k * stride + i, v_load_n(src + (ptrdiff_t)k * step + (have ? i : 0), have), lanes);
        }
}

/* 16 rows of up to 16 numbers, transposed; rows from `rows` on are 0. */
VEC void pack_block(size_t rows, size_t columns, const rapt_real *src, ptrdiff_t step, v16 r[16])
{
    UNROLL
    for (size_t i = 0; i < 16; i++)
        r[i] = i < rows ? v_load_n(src + (ptrdiff_t)i * step, columns) : v_zero();
    v_transpose(r);
}

/* dst[k * stride + i] = src[i * step + k], 0 for count <= i < stride. */
VEC void pack_turned(size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride,
                     rapt_real *dst)
{
    EACH_VECTOR(k, ks, kc)
        EACH_VECTOR(i, lanes, stride) {
            v16 r[16];
            size_t rows = count <= i ? 0 : count - i < 16 ? count - i : 16;
            pack_block(rows, ks, src + (rows ? (ptrdiff_t)i * step : 0) + k, step, r);
            for (size_t q = 0; q < ks; q++)
                v_store_n(dst + (k + q) * stride + i, r[q], lanes);
        }
}

static void pack_a(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst)
{
    if (a_row == 1)
        pack_straight((size_t)m, kc, a, a_col, GEMM_A_STRIDE, dst);
    else
        pack_turned((size_t)m, kc, a, a_row, GEMM_A_STRIDE, dst);
}

static void pack_b(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    if (b_col == 1)
        pack_straight((size_t)n, kc, b, b_row, GEMM_NR, dst);
    else
        pack_turned((size_t)n, kc, b, b_col, GEMM_NR, dst);
}

#endif
