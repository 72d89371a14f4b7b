/* tests/tensor/aligned.h: operands of products: numbers, aligned as kernels want them packed. To be included after cmocka.h. */
#ifndef TESTS_TENSOR_ALIGNED_H
#define TESTS_TENSOR_ALIGNED_H

#include "base/rng.h"
#include "kernels/kernels.h"

#include <stdlib.h>

static inline rapt_real *aligned(size_t count)
{
    rapt_real *x = aligned_alloc(KERNELS_ALIGN, (count * sizeof *x + KERNELS_ALIGN) / KERNELS_ALIGN * KERNELS_ALIGN);
    assert_non_null(x);
    return x;
}

/* Uniform in [-1, 1). */
static inline rapt_real *aligned_uniform(size_t count, uint64_t key)
{
    rapt_real *x = aligned(count);
    for (size_t i = 0; i < count; i++)
        x[i] = (rapt_real)(2 * rng_uniform(key, i) - 1);
    return x;
}

#endif
