/* kernels/vec.h: the loop over a row, which the vector ISAs and the kernel bodies share. For vec_portable.h, the headers in x86/
 * and arm/, and the bodies. The vector primitives are in vec_portable.h (documented there), x86/vec_avx2.h, x86/vec_avx512.h,
 * arm/vec_neon.h and wasm/vec_wasm.h. */
#ifndef KERNELS_VEC_H
#define KERNELS_VEC_H

#include "kernels/kernels.h"

/* Runs the block for each vector of a row of n elements: i is its first index, k the number of lanes that exist. The block is
 * compiled twice, for whole vectors (k is the constant 16) and for the rest (k is 1 .. 15), which made rows of any length a fifth
 * to a third faster. */
#define EACH_VECTOR(i, k, n, ...)                              \
    do {                                                       \
        size_t i = 0;                                          \
        for (; i + KERNELS_LANES <= (n); i += KERNELS_LANES) { \
            const size_t k = KERNELS_LANES;                    \
            __VA_ARGS__                                        \
        }                                                      \
        if (i < (n)) {                                         \
            const size_t k = (n) % KERNELS_LANES;              \
            __VA_ARGS__                                        \
        }                                                      \
    } while (0)

#endif
