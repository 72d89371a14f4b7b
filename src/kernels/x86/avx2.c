/* kernels/x86/avx2.c: the kernel table for AVX2 with FMA. Compiled with -mavx2 -mfma -mf16c. A tile of 6 x 16 takes 12 of the 16
 * registers for its sums. kernels.c chooses the table. */
#include "kernels/x86/vec_avx2.h"

#define GEMM_MR 6
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 6
#define GEMM_FAR 256 /* L2 caches of 256 or 512 KiB */
#define QUANT_MR 2
#include "kernels/body/table.h"

KERNELS_TABLE(kernels_avx2, "avx2", &gemm_bf16, &gemms_quantized);
KERNELS_TABLE(kernels_avx2_vnni, "avx2_vnni", &gemm_bf16, &kernels_quantized_avx_vnni);
