/* kernels/body/pack_bf16.h: copies an operand of the GEMM into panels of pairs of bf16 values that the tile of body/gemm_body.h
 * reads front to back.
 * For the GEMM driver, through the table. */
#ifndef KERNELS_BODY_PACK_BF16_H
#define KERNELS_BODY_PACK_BF16_H

#include "kernels/body/bf16_pairs.h"

static kernels_strides pack_a_bf16(int m, size_t kc, const rapt_real *a, ptrdiff_t a_row, ptrdiff_t a_col, rapt_real *dst)
{
    if (a_col == 1) {
        pairs_rows((size_t)m, kc, a, a_row, dst);
        return (kernels_strides){PAIRS_ROW, 1};
    }
    if (m == GEMM_MR) /* a constant makes better code */
        pairs_straight(GEMM_MR, kc, a, a_col, GEMM_A_STRIDE, dst);
    else
        pairs_straight((size_t)m, kc, a, a_col, GEMM_A_STRIDE, dst);
    return (kernels_strides){1, GEMM_A_STRIDE};
}

static void pack_b_bf16(size_t kc, int n, const rapt_real *b, ptrdiff_t b_row, ptrdiff_t b_col, rapt_real *dst)
{
    if (b_col == 1 && n == GEMM_NR)
        pairs_straight(GEMM_NR, kc, b, b_row, GEMM_NR, dst);
    else if (b_col == 1)
        pairs_straight((size_t)n, kc, b, b_row, GEMM_NR, dst);
    else
        pairs_turned((size_t)n, kc, b, b_col, GEMM_NR, dst);
}

#endif
