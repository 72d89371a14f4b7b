/* io/weights/weights_tensor.h: one tensor in a mapped file of another program. For the readers of such files, and for code that
 * loads models from them. */
#ifndef IO_WEIGHTS_TENSOR_H
#define IO_WEIGHTS_TENSOR_H

#include "io/safetensors.h"
#include "tensor/blocks.h"

typedef struct weights_tensor {
    const char *name; /* UTF-8, borrowed from the file's reader */
    safetensors_dtype dtype;   /* type of an element; F32 if elements are in blocks */
    const block_format *blocks; /* blocks of elements along the last dimension, which is whole blocks; NULL: single elements */
    int ndim;                            /* 0: a scalar */
    size_t shape[SAFETENSORS_MAX_DIMS];
    size_t stride[SAFETENSORS_MAX_DIMS]; /* in elements, from one index of a dimension to the next */
    bool row_major;                      /* strides of rows without gaps: `bytes` bytes from `data` are the tensor */
    const char *data;                    /* the element of index 0; not aligned */
    size_t elements, bytes;              /* bytes: elements times the element size, or the bytes of the blocks */
    size_t file;                         /* number of the file, from 0 */
} weights_tensor;

/* "F16", "Q4_K" */
const char *weights_tensor_type(const weights_tensor *t);
/* Bytes of contiguous elements; in blocks, whole blocks. */
size_t weights_tensor_bytes(const weights_tensor *t, size_t elements);

/* Sets strides of rows without gaps. */
void weights_tensor_lay_out(weights_tensor *t);
/* Whether its strides are row-major; dimensions of one index, and tensors without elements, do not matter. */
bool weights_tensor_is_row_major(const weights_tensor *t);

/* Rows of a tensor: `count` elements that are `stride` elements apart, the first of them being the tensor's element `first`. */
typedef struct weights_row {
    const char *data;
    size_t stride, count, first;
} weights_row;

/* For a tensor without blocks: calls `visit` for rows that make up the whole tensor, in the order of its elements; for one row if
 * it is row-major. Ends early if `visit` returns false, and returns that. */
bool weights_tensor_rows(const weights_tensor *t, bool (*visit)(void *context, const weights_row *row), void *context);

/* "[2, 3]" with the sizes that fit. */
enum { WEIGHTS_SHAPE_TEXT = 192 };
const char *weights_shape_text(const size_t *shape, int ndim, char text[WEIGHTS_SHAPE_TEXT]);

#endif
