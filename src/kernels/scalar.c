/* kernels/scalar.c: the kernel table that every machine has, and that defines what the others compute. For machines without
 * another table, for tests, and for the double build. Not as fast as intrinsics: its tile is in memory, and its bodies are
 * functions. */
#include "kernels/vec_portable.h"

#define GEMM_MR 4
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 4
#define QUANT_MR 4
#include "kernels/body/table.h"

#ifdef RAPT_DOUBLE
KERNELS_TABLE(kernels_scalar, "scalar", NULL, NULL);
#else
KERNELS_TABLE(kernels_scalar, "scalar", &gemm_bf16, &gemms_quantized);
#endif
