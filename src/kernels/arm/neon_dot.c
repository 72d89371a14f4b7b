/* kernels/arm/neon_dot.c: products of quantized weights by the dot product of bytes, which processors of Armv8.4 and most of 8.2
 * have. Compiled for Armv8.2 with it.
 * Not the choice of it: see kernels.c. */
#include "kernels/arm/vec_neon.h"

#include "kernels/body/bf16.h"

#define GEMM_MR 6
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 8
#define QUANT_MR 4
#include "kernels/body/quant_body.h"

const kernels_quantized kernels_quantized_neon_dot = QUANT_TABLES("neon_dot");
