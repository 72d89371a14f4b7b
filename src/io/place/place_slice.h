/* io/place/place_slice.h: the rows of a parameter within a tensor of another program's: all of it, a part, or its transpose; read
 * from there, and put there. For hub_weights.c, which reads small parameters at once, and gives matrices a source
 * (tensor/param_source.h), and for place_tensors.c, which writes. */
#ifndef IO_PLACE_PLACE_SLICE_H
#define IO_PLACE_PLACE_SLICE_H

#include "io/adapter/adapter.h"
#include "tensor/blocks.h"

struct weights;
struct weights_tensor;

typedef struct place_slice {
    const struct weights *w;
    const struct weights_tensor *t; /* has one or two dimensions */
    size_t first;    /* the row of the tensor that is row 0 of ours */
    size_t columns;  /* elements of a row; 1 for a vector */
    bool transposed; /* rows are columns of the tensor */
    bool plus_one; /* 1 is added to the values */
    size_t head; /* features of a head; 0: our rows are one after the other */
    size_t step; /* rows of the tensor from a head to the next */
    bool interleaved; /* the features of a rotated pair are adjacent; in rapt they are half a head apart */
    size_t turned; /* rotated features of a head, in other pairs than rapt's; 0: in rapt's order */
    const adapter_layer *adapter; /* changes the rows of the tensor that is read; NULL: none */
    const size_t *row_order, *column_order; /* when put: which of our rows, or columns, stands at each place; NULL: in order */
} place_slice;

/* Writes rows first .. first + count - 1 to `to`: a param_read_fn of a place_slice, whose tensor has floating-point numbers. */
void place_slice_read(const void *slice, size_t first, size_t count, float *to);
/* Row `row` in the file, whole blocks without gaps, which need not be aligned. NULL: rows are not stored as blocks, or their
 * numbers differ from the file's. */
const void *place_slice_blocks(const place_slice *s, size_t row, const block_format **format);
/* The id of GGUF for bf16 or binary16 if all numbers of a slice have 16 bits, else 0. */
int place_slice_16_bits(const place_slice *s);
/* The inverse: writes what a parameter of `rows` rows has in rows first .. first + count - 1 of the tensor to `to`, the elements
 * of these rows, each with `width` elements (1 for a vector). `w` and `t` are not used. */
void place_slice_put(const place_slice *s, size_t rows, const float *from, size_t width, size_t first, size_t count, float *to);
/* Gives the memory of the tensor's pages back: a param_leave_fn. */
void place_slice_leave(const void *slice);

#endif
