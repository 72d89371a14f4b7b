/* tensor/stored.h: rows of numbers in the numeric type of a rapt_type. For KV caches and for attention, which reads them. */
#ifndef TENSOR_STORED_H
#define TENSOR_STORED_H

#include "kernels/kernels.h"
#include "rapt/tensor.h"

/* Bytes of a row of n numbers. */
size_t stored_bytes(rapt_type storage, size_t n);
/* Rounds `rows` contiguous rows of n numbers to contiguous stored rows; `to` need not be aligned. */
void stored_write(const kernels *k, rapt_type storage, size_t rows, size_t n, const rapt_real *x, uint8_t *to);
/* One row, in fp32. */
void stored_read(const kernels *k, rapt_type storage, size_t n, const uint8_t *from, rapt_real *y);

#endif
