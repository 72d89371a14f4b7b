/* io/stored_16_bits.h: matrices of bf16 or binary16 in a safetensors file, which stay in the file of a model for inference as
 * blocks do (io/stored_blocks.h). For readers of files. */
#ifndef IO_STORED_16_BITS_H
#define IO_STORED_16_BITS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

/* Whether elements have 16 bits: in a file of rapt's own that is for inference alone. */
bool stored_16_bits_is(safetensors_dtype dtype);
/* The id of GGUF of bf16 or binary16 (kernels_stored_format); 0: neither. */
int stored_16_bits_type(safetensors_dtype dtype);
/* Whether the file has matrices of them. */
bool stored_16_bits_any(const safetensors *file);
/* Makes the numbers of a file the source of a matrix of the same shape (tensor/param_source.h); the file lives as long as the
 * set. RAPT_ERR_MEMORY. */
rapt_code stored_16_bits_take(rapt_params *set, rapt_param *p, const safetensors_entry *e, const char *path, rapt_error *err);

#endif
