/* tests/train/golden_numbers.h: what a tool wrote down of PyTorch: arrays and numbers in a safetensors file, and the gradient of
 * each parameter as grad/NAME. To be included after cmocka.h. */
#ifndef TESTS_TRAIN_GOLDEN_NUMBERS_H
#define TESTS_TRAIN_GOLDEN_NUMBERS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

#include <math.h>
#include <stdio.h>

/* The array's elements, which the file owns. */
static inline const void *expected(const safetensors *golden, const char *name, size_t *count)
{
    const safetensors_entry *e = safetensors_find(golden, name);
    if (!e)
        fail_msg("no %s", name);
    *count = 1;
    for (int i = 0; i < e->ndim; i++)
        *count *= e->shape[i];
    return e->data;
}

static inline double number(const safetensors *golden, const char *name)
{
    size_t count;
    return *(const double *)expected(golden, name, &count);
}

/* Largest difference at most `bound` times the largest element; the bound is twice the distance of PyTorch in float32. */
static inline void check_gradient(const safetensors *golden, const rapt_tensor *x, double bound)
{
    char name[128];
    size_t count;
    double largest = 0, off = 0;
    snprintf(name, sizeof name, "grad/%s", x->name);
    const float *theirs = expected(golden, name, &count);
    assert_int_equal(count, rapt_tensor_size(x));
    assert_true(x->grad && x->grad_filled);
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)theirs[i]));
        off = fmax(off, fabs((double)x->grad[i] - (double)theirs[i]));
    }
    if (!(largest > 0 && off <= bound * largest))
        fail_msg("%s: differs by %.2g of %.2g, PyTorch in float32 by %.2g", name, off, largest, bound / 2 * largest);
}

#endif
