/* tensor/bf16_numbers.h: numbers in 16 bits, rounded as products in bf16 round them: for processes that send each other weights.
 * Products with the rounded numbers have the same bits, because rounding twice changes nothing. */
#ifndef TENSOR_BF16_NUMBERS_H
#define TENSOR_BF16_NUMBERS_H

#include "kernels/kernels.h"

/* Rounds x[0 .. n - 1] as an operand of kn, whose products are in bf16. */
void bf16_numbers_round(const kernels_gemm *kn, size_t n, const rapt_real *x, uint16_t *to);
/* Widens n numbers to fp32. */
void bf16_numbers_widen(size_t n, const uint16_t *from, rapt_real *to);

#endif
