/* io/stored_numbers.h: matrices of fp32, bf16 or binary16 numbers in a safetensors file, which stay in the file for inference, as
 * blocks do (io/stored_blocks.h). For readers of files. */
#ifndef IO_STORED_NUMBERS_H
#define IO_STORED_NUMBERS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"

/* Whether elements have 16 bits: in a file of rapt's own that is for inference alone. */
bool stored_numbers_are_16_bits(safetensors_dtype dtype);
/* The id of GGUF for bf16 or binary16 (kernels_stored_format); 0: neither. */
int stored_numbers_type(safetensors_dtype dtype);
/* Whether the file has matrices of such elements. */
bool stored_numbers_any_16_bits(const safetensors *file);
/* Makes the numbers of an entry of the file the source of a matrix of the same shape (tensor/param_source.h); the file lives as
 * long as the set. RAPT_ERR_MEMORY. */
rapt_code stored_numbers_take(rapt_params *set, rapt_param *p, const safetensors *file, const safetensors_entry *e,
                              const char *path, rapt_error *err);

#endif
