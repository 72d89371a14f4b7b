/* kernels/wasm/relaxed.c: the kernel table of WebAssembly with relaxed SIMD, whose multiply-adds are one instruction. An engine
 * may round them once, as processors with such an instruction do, or twice; a probe tells. A tile of 2 x 16 takes 8 vectors for
 * its sums, four for 16 columns of B and one for an element of A, which an x86-64 processor has as registers. kernels.c chooses
 * the table. */
#include "kernels/wasm/vec_wasm.h"

#define GEMM_MR 2
#define GEMM_VECTORS 1
#define GEMM_A_STRIDE 4
#define TABLE_OF_FLOATS
#include "kernels/body/table.h"

KERNELS_TABLE(kernels_relaxed, "relaxed", &kernels_bf16_scalar, &kernels_quantized_scalar);

/* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 lies halfway between two floats: rounded twice, what is added counts for nothing. */
bool kernels_relaxed_is_fused(void)
{
    float x[16], y[16];
    volatile float factor = 1 + 0x1p-12f, little = 0x1p-55f;
    for (int i = 0; i < 16; i++) {
        x[i] = factor;
        y[i] = i % 2 ? little : -little;
    }
    kernels_relaxed.mul_add(16, x, x, y);
    for (int i = 0; i < 16; i++)
        if (y[i] != (i % 2 ? 1 + 0x1p-11f + 0x1p-23f : 1 + 0x1p-11f))
            return false;
    return true;
}
