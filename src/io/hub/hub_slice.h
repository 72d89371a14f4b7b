/* io/hub/hub_slice.h: the rows of a parameter where they lie in a Hugging Face model: a tensor, a part of one, or its transpose.
 * For hub_weights.c, which reads small parameters at once, and gives matrices a source (tensor/param_source.h). */
#ifndef IO_HUB_HUB_SLICE_H
#define IO_HUB_HUB_SLICE_H

#include "io/adapter/adapter.h"
#include "io/weights/weights.h"

typedef struct hub_slice {
    const weights *w;
    const weights_tensor *t; /* of one or two dimensions */
    size_t first;    /* the row of the tensor that is row 0 of ours */
    size_t columns;  /* elements of a row; of a vector 1 */
    bool transposed; /* rows are columns of the tensor */
    bool plus_one; /* 1 is added to the values */
    size_t head; /* features of a head; 0: our rows are one after the other */
    size_t step; /* rows of the tensor from a head to the next */
    bool interleaved; /* pairs of features of a head are next to each other, of which ours are half a head apart */
    size_t turned; /* features of a head that are rotated, which are in other pairs than ours; 0: in our order */
    const adapter_layer *adapter; /* added to the rows of the tensor, or NULL */
} hub_slice;

/* Writes rows first .. first + count - 1 to `to`: a param_read_fn of a hub_slice, whose tensor has floating-point numbers. */
void hub_slice_read(const void *slice, size_t first, size_t count, float *to);
/* Row `row` as it is in the file, whole blocks without gaps, which need not be aligned. NULL: the rows are no blocks, or other
 * numbers than those in the file. */
const void *hub_slice_blocks(const hub_slice *s, size_t row, const block_format **format);
/* Whether all numbers of a slice are of 16 bits: the id of GGUF of bf16 or binary16, else 0. */
int hub_slice_16_bits(const hub_slice *s);
/* The inverse for all `rows` of a parameter: writes them to where they are in the tensor, of `width` elements a row (of a vector
 * 1), whose elements are at `to`. `w` and `t` are not used. */
void hub_slice_put(const hub_slice *s, size_t rows, const float *from, size_t width, float *to);
/* Gives the memory of the tensor's pages back: a param_leave_fn. */
void hub_slice_leave(const void *slice);

#endif
