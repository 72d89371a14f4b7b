/* kernels/vec.h: what the vector vocabularies and the kernel bodies share besides numbers: inlining, unrolling and
 * the loop over a row. For vec_portable.h, the ones in x86/, and the bodies.
 * Not the vocabulary itself: that is in vec_portable.h (documented there), x86/vec_avx2.h and x86/vec_avx512.h. */
#ifndef KERNELS_VEC_H
#define KERNELS_VEC_H

#include "kernels/kernels.h"

/* Vocabulary and bodies are always inlined: their constant arguments choose the code. */
#define VEC static inline __attribute__((always_inline))

/* Walks a row of n numbers in vectors: i is the first index and k (1 .. 16) how many lanes exist. */
#define EACH_VECTOR(i, k, n)                                                                                     \
    for (size_t i = 0, k; i < (n) && (k = (n) - i < KERNELS_LANES ? (n) - i : KERNELS_LANES) > 0;                \
         i += KERNELS_LANES)

#endif
