/* io/stored_blocks.h: matrices that a safetensors file stores as blocks (tensor/blocks.h). The format has no blocks, so they are
 * a tensor of U8 [rows, bytes of a row], with the name of the blocks' format in the metadata. For writers and readers of
 * files. */
#ifndef IO_STORED_BLOCKS_H
#define IO_STORED_BLOCKS_H

#include "io/safetensors.h"
#include "rapt/tensor.h"
#include "tensor/blocks.h"

enum { STORED_BLOCKS_KEY = 264 };

/* Writes the key of a tensor in the metadata, "blocks.NAME", and returns it. */
const char *stored_blocks_key(const char *name, char key[STORED_BLOCKS_KEY]);

/* Whether the file has such tensors; it may be NULL. */
bool stored_blocks_any(const safetensors *file);
/* The numeric type of fewest bits in which the file's tensors are stored ("Q8_0", "BF16"); NULL: all are fp32. */
const char *stored_blocks_type(const safetensors *file);
/* The format of a tensor's blocks; NULL: it has none, and *wrong says whether the metadata or the shape are wrong. */
const block_format *stored_blocks_format(const safetensors *file, const safetensors_entry *e, bool *wrong);

/* Makes the blocks of a file the source of a matrix (tensor/param_source.h); the file lives as long as the set. RAPT_ERR_FORMAT:
 * another shape, or a number that is not finite; RAPT_ERR_MEMORY. */
rapt_code stored_blocks_take(rapt_params *set, rapt_param *p, const safetensors *file, const char *path, rapt_error *err);

#endif
