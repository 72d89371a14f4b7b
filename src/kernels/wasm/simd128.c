/* kernels/wasm/simd128.c: the kernel table of WebAssembly with 128-bit SIMD, whose fused multiply-adds are made of doubles. For
 * engines without relaxed SIMD, or where that rounds twice. kernels.c chooses the table. */
#include "kernels/wasm/vec_wasm.h"

#define GEMM_MR 2
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 4
#define TABLE_OF_FLOATS
#include "kernels/body/table.h"

KERNELS_TABLE(kernels_simd128, "simd128", &kernels_bf16_scalar, &kernels_quantized_scalar);
