/* kernels/arm/neon_dot.c: products of quantized weights with the dot product of bytes, which Armv8.4 processors and most Armv8.2
 * processors have. Compiled for Armv8.2 with that extension. kernels.c chooses the table. */
#include "kernels/arm/vec_neon.h"

#include "kernels/body/bf16.h"

#define GEMM_MR 6
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 8
#define QUANT_MR 4
#include "kernels/body/quant_body.h"

const kernels_quantized kernels_quantized_neon_dot = QUANT_TABLES("neon_dot");
