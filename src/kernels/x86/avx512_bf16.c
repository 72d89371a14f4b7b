/* kernels/x86/avx512_bf16.c: products of bf16 values with the instructions of AVX-512 BF16: the tile of avx512.c with pairs
 * instead of elements. Compiled with the flags of avx512.c and -mavx512bf16. kernels.c chooses it, because on some processors it
 * is slower than fp32. */
#include "kernels/x86/vec_avx512.h"

#define GEMM_MR 14
#define GEMM_VECTORS 2
#define GEMM_A_STRIDE 16
#include "kernels/body/gemm_body.h"
#include "kernels/body/pack_bf16.h"

GEMM_TILE(gemm_tile_bf16, GEMM_PAIRS)
GEMM_ROW(gemm_row_bf16, GEMM_PAIRS)

const kernels_gemm kernels_gemm_avx512_bf16 = {
    .name = "avx512_bf16",
    .mr = GEMM_MR,
    .nr = GEMM_NR,
    .a_stride = GEMM_A_STRIDE,
    .pair = 2,
    .step = 1,
    .gemm_tile = gemm_tile_bf16,
    .gemm_row = gemm_row_bf16,
    .pack_a = pack_a_bf16,
    .pack_b = pack_b_bf16,
};
