/* kernels/body/pack_body.h: copies an operand of the GEMM into panels that the tile reads front to back.
 * For the GEMM driver, through the table.
 * Not the layout of a whole matrix: a call packs one panel. */
#ifndef KERNELS_BODY_PACK_BODY_H
#define KERNELS_BODY_PACK_BODY_H

#define PACK_AHEAD 16 /* rows from the prefetch of a row to its copy; a prefetch never faults, so it may be beyond the matrix */

VEC size_t pack_min(size_t a, size_t b) { return a < b ? a : b; }

/* dst[k * stride + i] = src[i + k * step] for whole rows of `stride` elements, which are contiguous in memory. */
VEC void pack_rows(size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride, rapt_real *dst)
{
    for (size_t k = 0; k < kc; k++, src += step, dst += stride)
        UNROLL
        for (size_t i = 0; i < stride; i += 16) {
            __builtin_prefetch(src + i + PACK_AHEAD * step);
            v_store(dst + i, v_load(src + i));
        }
}

/* dst[k * stride + i] = src[i + k * step] for any count of elements, 0 from there to a multiple of 16. */
VEC void pack_straight(size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride,
                       rapt_real *dst)
{
    if (count == stride && stride % 16 == 0) {
        pack_rows(kc, src, step, stride, dst);
        return;
    }
    for (size_t i = 0; i < count; i += 16)
        for (size_t k = 0; k < kc; k++) {
            v16 x = v_load_n(src + i + (ptrdiff_t)k * step, pack_min(count - i, 16));
            v_store_n(dst + k * stride + i, x, pack_min(stride, 16));
        }
}

/* Transposes a block of `rows` rows of ks elements, `step` apart, to ks rows of `stride`, and fills `lanes` elements of each. */
VEC void pack_block(size_t rows, size_t ks, const rapt_real *src, ptrdiff_t step, const size_t stride,
                    const size_t lanes, rapt_real *dst)
{
    v16 r[16];
    UNROLL
    for (size_t i = 0; i < 16; i++)
        r[i] = i < rows ? v_load_n(src + (ptrdiff_t)i * step, ks) : v_zero();
    v_transpose(r);
    UNROLL
    for (size_t q = 0; q < 16; q++)
        if (q < ks)
            v_store_n(dst + q * stride, r[q], lanes);
}

/* Prefetches the same elements of the rows that the next panel will have. */
VEC void pack_ahead(size_t rows, const rapt_real *next, ptrdiff_t step)
{
    UNROLL
    for (size_t i = 0; i < 16; i++)
        if (i < rows)
            __builtin_prefetch(next + (ptrdiff_t)i * step);
}

/* dst[k * stride + i] = src[i * step + k], 0 from count to a multiple of 16. Most panels have `usual` elements per step. */
VEC void pack_turned(size_t count, const size_t usual, size_t kc, const rapt_real *src, ptrdiff_t step,
                     const size_t stride, rapt_real *dst)
{
    const size_t lanes = pack_min(stride, 16), most = pack_min(usual, 16);
    for (size_t i = 0; i < count; i += 16) {
        const rapt_real *p = src + (ptrdiff_t)i * step, *next = p + (ptrdiff_t)usual * step;
        size_t rows = pack_min(count - i, 16);
        EACH_VECTOR(k, ks, kc, {
            pack_ahead(rows, next + k, step);
            if (rows == most)
                pack_block(most, ks, p + k, step, stride, lanes, dst + k * stride + i);
            else
                pack_block(rows, ks, p + k, step, stride, lanes, dst + k * stride + i);
        });
    }
}

static kernels_strides pack_a(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst)
{
    if (a_row == 1)
        pack_straight((size_t)m, kc, a, a_col, GEMM_A_STRIDE, dst);
    else
        pack_turned((size_t)m, GEMM_MR, kc, a, a_row, GEMM_A_STRIDE, dst);
    return (kernels_strides){1, GEMM_A_STRIDE};
}

static void pack_b(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    if (b_col == 1)
        pack_straight((size_t)n, kc, b, b_row, GEMM_NR, dst);
    else
        pack_turned((size_t)n, GEMM_NR, kc, b, b_col, GEMM_NR, dst);
}

#endif
