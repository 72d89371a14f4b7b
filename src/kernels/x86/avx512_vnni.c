/* kernels/x86/avx512_vnni.c: products of quantized weights with the instructions of AVX-512 VNNI, four products of bytes in each
 * lane. Compiled with the flags of avx512.c and -mavx512vnni. All processors with AVX-512 BF16 have VNNI too. kernels.c chooses
 * the table. */
#include "kernels/x86/vec_avx512.h"

#define GEMM_MR 14
#define GEMM_VECTORS 2
#define GEMM_A_STRIDE 16
#define QUANT_MR 6
#include "kernels/body/quant_body.h"

const kernels_quantized kernels_quantized_avx512_vnni = QUANT_TABLES("avx512_vnni");
