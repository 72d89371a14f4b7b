/* kernels/x86/avx512.c: the kernel table for AVX-512 (F, BW, DQ, VL). Compiled with these four and -mfma. A tile of 14 x 32 takes
 * 28 of the 32 registers for its sums. kernels.c chooses the table. */
#include "kernels/x86/vec_avx512.h"

#define GEMM_MR 14
#define GEMM_VECTORS 2
#define GEMM_A_STRIDE 16
#define QUANT_MR 6
#include "kernels/body/table.h"

KERNELS_TABLE(kernels_avx512, "avx512", &gemm_bf16, &gemms_quantized);
KERNELS_TABLE(kernels_avx512_vnni, "avx512_vnni", &gemm_bf16, &kernels_quantized_avx512_vnni);
KERNELS_TABLE(kernels_avx512_bf16, "avx512_bf16", &kernels_gemm_avx512_bf16, &kernels_quantized_avx512_vnni);
KERNELS_TABLE(kernels_amx, "amx", &kernels_gemm_amx, &kernels_quantized_avx512_vnni);
