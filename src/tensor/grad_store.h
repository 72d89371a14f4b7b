/* tensor/grad_store.h: gradients of parameters stored in bf16 (rapt_tensor.grad_bf16), 16 bits per element. For the tape, which
 * writes them, and the optimizer. */
#ifndef TENSOR_GRAD_STORE_H
#define TENSOR_GRAD_STORE_H

#include "kernels/kernels.h"
#include "rapt/tensor.h"

#define GRAD_STORE_WIDTH ((size_t)8192) /* max elements of a row, and of one grad_elements */

static inline uint16_t *grad_stored(const rapt_tensor *x)
{
    return (uint16_t *)(void *)x->grad;
}

/* Bytes of an element of x's gradient. */
static inline size_t grad_element_bytes(const rapt_tensor *x)
{
    return x->grad_bf16 ? sizeof(uint16_t) : sizeof(rapt_real);
}

/* n elements of x's gradient from element `from` on. If the gradient is in bf16, they are converted into `memory`, and n is at
 * most GRAD_STORE_WIDTH. */
static inline const rapt_real *grad_elements(const kernels *k, const rapt_tensor *x, size_t from, size_t n, rapt_real *memory)
{
    if (!x->grad_bf16)
        return x->grad + from;
    k->widen_bf16(n, (const uint8_t *)(grad_stored(x) + from), memory);
    return memory;
}

#endif
