/* kernels/scalar.c: the kernel table that every machine has, and that defines what the others compute. For machines without
 * another table, for tests, and for the double build. Not as fast as intrinsics: its tile is in memory, and its bodies are
 * functions. */
#include "kernels/vec_portable.h"

#define GEMM_MR 4
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 4
#define QUANT_MR 4
#if defined(__wasm__) && !defined(RAPT_DOUBLE)
#define TABLE_LENDS /* a module is downloaded: each kernel as few times as is as fast */
#endif
#include "kernels/body/table.h"

#ifdef RAPT_DOUBLE
KERNELS_TABLE(kernels_scalar, "scalar", NULL, NULL);
#elif defined(TABLE_LENDS)
const kernels_gemm kernels_bf16_scalar = EMULATED_GEMM;
const kernels_gemm kernels_bf16_weights_scalar = BF16_WEIGHTS_GEMM, kernels_f16_weights_scalar = F16_WEIGHTS_GEMM;
const kernels_quantized kernels_quantized_scalar = QUANT_TABLES("quantized");
KERNELS_TABLE(kernels_scalar, "scalar", &kernels_bf16_scalar, &kernels_quantized_scalar);
#else
KERNELS_TABLE(kernels_scalar, "scalar", &gemm_bf16, &gemms_quantized);
#endif
