/* tensor/bf16_numbers.c: rounds with the kernels that pack an operand, so that the rounding is the same for numbers near 0 and
 * for NaN too. */
#include "tensor/bf16_numbers.h"

#include "kernels/half.h"

#include <string.h>

#define ROWS 16 /* rows of KERNELS_K_BLOCK numbers that are packed at once */

void bf16_numbers_round(const kernels_gemm *kn, size_t n, const rapt_real *x, uint16_t *to)
{
    _Alignas(KERNELS_ALIGN) rapt_real pairs[KERNELS_MAX_A];
    while (n > 0) {
        size_t rows = n / KERNELS_K_BLOCK < ROWS ? n / KERNELS_K_BLOCK : ROWS, width = rows > 0 ? KERNELS_K_BLOCK : n;
        size_t count = rows > 0 ? rows * width : n;
        kn->pack_a(rows > 0 ? (int)rows : 1, width, x, (ptrdiff_t)width, 1, pairs); /* rows of pairs without gaps */
        memcpy(to, pairs, count * sizeof *to);
        x += count;
        to += count;
        n -= count;
    }
}

void bf16_numbers_widen(size_t n, const uint16_t *from, rapt_real *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (rapt_real)bf16_to_float(from[i]);
}
