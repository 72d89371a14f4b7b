/* kernels/body/pack_f16.h: packs weights that are binary16 numbers, without loss, as pairs that are adjacent along K: the layout
 * of body/pack_bf16.h. For the GEMM driver, through the table. Plain C: it runs while a model is loaded. */
#ifndef KERNELS_BODY_PACK_F16_H
#define KERNELS_BODY_PACK_F16_H

#include "kernels/half.h"

static void pack_b_f16(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    for (size_t k = 0; k < kc; k += 2, dst += GEMM_NR)
        for (int j = 0; j < GEMM_NR; j++) {
            const rapt_real *at = b + (ptrdiff_t)k * b_row + j * b_col;
            const uint32_t first = j < n ? half_from_float(at[0]) : 0;
            const uint32_t second = j < n && k + 1 < kc ? half_from_float(at[b_row]) : 0;
            dst[j] = half_of_bits(first | second << 16);
        }
}

#endif
