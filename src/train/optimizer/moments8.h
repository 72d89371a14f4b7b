/* train/optimizer/moments8.h: the layout of a parameter's 8-bit moments, and how they are rounded. A kernel makes the step
 * (kernels.h, adam8). For adam.c, checkpoints and the memory plan.
 *
 * A moment is divided into spans in the kernel's layout: bytes of exponents, then of codes. A span is a block of the gradient
 * norm (param_slices.h), so that threads and processes, which divide blocks among them, have whole spans. */
#ifndef TRAIN_OPTIMIZER_MOMENTS8_H
#define TRAIN_OPTIMIZER_MOMENTS8_H

#include "rapt/tensor.h"

/* The 8-bit moments of one parameter; NULL: its moments are not in 8 bits. */
typedef struct moments8 {
    uint8_t *m, *v;
} moments8;

/* Whether the moments of a parameter can be in 8 bits: a dense matrix that is large enough to be worth it. */
bool moments8_fit(const rapt_param *p);
/* Bytes of one moment of it. */
size_t moments8_bytes(const rapt_param *p);
/* The byte at which the span of p begins whose first element is `element`; for p's size, the end. */
size_t moments8_at(const rapt_param *p, size_t element);
/* The first element of the span that contains byte `at`. */
size_t moments8_element(const rapt_param *p, size_t at);
/* The kernel's seed for the span that begins with `element` of parameter `index`, in step `step`. */
uint32_t moments8_seed(size_t index, size_t element, uint64_t step);

#endif
