/* kernels/arm/neon.c: the kernel table of AArch64, which always has NEON with fused multiply-adds. A tile of 6 x 16 takes 24 of
 * the 32 registers for its sums, four for 16 columns of B, and one for an element of A; a seventh row would make 33. kernels.c
 * chooses the table. */
#include "kernels/arm/vec_neon.h"

#define GEMM_MR 6
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 8
#define QUANT_MR 2
#include "kernels/body/table.h"

KERNELS_TABLE(kernels_neon, "neon", &gemm_bf16, &gemms_quantized);
KERNELS_TABLE(kernels_neon_dot, "neon_dot", &gemm_bf16, &kernels_quantized_neon_dot);
