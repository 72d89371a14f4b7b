/* tests/tensor/amx_in_c.c: the products of x86/amx.c with tiles in plain C, for test_gemm.c. */
#define kernels_gemm_amx kernels_gemm_amx_in_c
#define AMX_IN_C "tensor/tiles_in_c.h"
#include "kernels/x86/amx.c"
