/* kernels/x86/avx_vnni.c: products of quantized weights with the instructions of AVX-VNNI, which is AVX-512 VNNI for registers of
 * 32 bytes. Compiled with the flags of avx2.c and -mavxvnni. kernels.c chooses the table. */
#include "kernels/x86/vec_avx2.h"

#include "kernels/body/bf16.h"

#define GEMM_MR 6
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 8
#define QUANT_MR 4
#include "kernels/body/quant_body.h"

const kernels_quantized kernels_quantized_avx_vnni = QUANT_TABLES("avx_vnni");
