/* io/weights/widen.h: elements of files as fp32. For weights_read.c. */
#ifndef IO_WEIGHTS_WIDEN_H
#define IO_WEIGHTS_WIDEN_H

#include "io/weights/weights_tensor.h"

/* Whether elements of this type are floating-point numbers. */
bool widen_is_real(safetensors_dtype dtype);

/* Writes the row's elements to to[row->first] and on. F32, F16 and BF16 exactly (a NaN stays one), F64 rounded to nearest even.
 * `dtype` is one of these. */
void widen_row(safetensors_dtype dtype, const weights_row *row, float *to);

/* The place in the row of the first element that, as stored, is infinite or NaN; row->count if all are finite. */
size_t widen_first_bad(safetensors_dtype dtype, const weights_row *row);

#endif
