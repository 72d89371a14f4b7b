/* kernels/body/bf16_pairs.h: converts elements of a matrix to pairs of bf16 values, adjacent along K, in three layouts. For
 * packing an operand of the GEMM: body/pack_bf16.h, x86/amx.c. The rounding itself is in body/bf16.h. */
#ifndef KERNELS_BODY_BF16_PAIRS_H
#define KERNELS_BODY_BF16_PAIRS_H

#define PAIRS_AHEAD 16                      /* rows from the prefetch of one to its conversion */
#define PAIRS_ROW (KERNELS_K_BLOCK / 2)     /* the row stride, in elements, of a packed A in row-major layout */

VEC size_t pairs_min(size_t a, size_t b) { return a < b ? a : b; }

/* Up to 32 elements, followed by zeros, as 16 pairs of adjacent elements. */
VEC v16 pairs_load(const rapt_real *src, size_t n)
{
    if (n >= 32)
        return v_pair_neighbors(v_load(src), v_load(src + 16));
    return v_pair_neighbors(v_load_n(src, pairs_min(n, 16)), n > 16 ? v_load_n(src + 16, n - 16) : v_zero());
}

/* dst[k / 2 * stride + i] = (src[i + k * step], src[i + (k + 1) * step]) for even k and i < count, zeros up to whole
 * vectors. */
VEC void pairs_straight(const size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride,
                        rapt_real *dst)
{
    for (size_t k = 0; k < kc; k += 2, src += 2 * step, dst += stride)
        for (size_t i = 0; i < count; i += 16) {
            size_t lanes = pairs_min(count - i, 16);
            __builtin_prefetch(src + i + PAIRS_AHEAD * step);
            __builtin_prefetch(src + i + (PAIRS_AHEAD + 1) * step);
            v16 even = v_load_n(src + i, lanes), odd = k + 1 < kc ? v_load_n(src + i + step, lanes) : v_zero();
            v_store_n(dst + i, v_pair(even, odd), pairs_min(stride, 16));
        }
}

/* dst[k / 2 * stride + i] = (src[i * step + k], src[i * step + k + 1]): 16 rows of up to 32 elements turn into up to 16
 * rows of 16 pairs. */
VEC void pairs_turned(size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, const size_t stride, rapt_real *dst)
{
    for (size_t i = 0; i < count; i += 16)
        for (size_t k = 0; k < kc; k += 32) {
            const rapt_real *from = src + (ptrdiff_t)i * step + k;
            v16 r[16];
            UNROLL
            for (size_t j = 0; j < 16; j++)
                r[j] = i + j < count ? pairs_load(from + (ptrdiff_t)j * step, kc - k) : v_zero();
            v_transpose(r);
            UNROLL
            for (size_t q = 0; q < 16; q++)
                if (k + 2 * q < kc)
                    v_store_n(dst + (k / 2 + q) * stride + i, r[q], pairs_min(stride, 16));
        }
}

/* dst[i * PAIRS_ROW + k / 2] = (src[i * step + k], src[i * step + k + 1]), zeros up to whole vectors. */
VEC void pairs_rows(size_t count, size_t kc, const rapt_real *src, ptrdiff_t step, rapt_real *dst)
{
    for (size_t i = 0; i < count; i++, src += step, dst += PAIRS_ROW)
        for (size_t k = 0; k < kc; k += 32)
            v_store(dst + k / 2, pairs_load(src + k, kc - k));
}

#endif
