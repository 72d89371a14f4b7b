/* train/optimizer/param_slices.h: all parameters of a set as one list of slices for the threads: a model has many small
 * parameters, and a loop over threads for each would cost more than its work. Slices depend on shapes alone, so sums over
 * them, taken in order, have the same bits for any number of threads. For the optimizer and the gradient norm. */
#ifndef TRAIN_OPTIMIZER_PARAM_SLICES_H
#define TRAIN_OPTIMIZER_PARAM_SLICES_H

#include "tape/tape_core.h"

#define SLICES_AT_ONCE 1024

/* Whole rows of a parameter; a vector has rows of one element. Sums are made of blocks: rows of 8,192 elements together, at least
 * one row. A slice has a few blocks, and at least 64 rows. */
typedef struct param_slice {
    rapt_param *param;
    size_t index;       /* index of the parameter in the set */
    size_t first, rows;
    size_t width;       /* of a row */
    size_t block;       /* rows of a block; the last one may have less */
    double sum;         /* for the caller's use */
} param_slice;

typedef struct param_slices {
    const rapt_params *set;
    bool (*wanted)(const void *context, const rapt_param *p, size_t index);
    const void *context;
    size_t param, row; /* beginning of the next slice */
    size_t count, elements; /* of the current list */
    param_slice list[SLICES_AT_ONCE];
} param_slices;

/* The elements of a block of p; the last one may have less. */
size_t param_block_elements(const rapt_param *p);
/* The slice of p, parameter `index` of its set, that begins with row `row`. */
param_slice param_slice_at(rapt_param *p, size_t index, size_t row);

/* Begins to list slices of the parameters for which `wanted` is true; it is asked once for each parameter, in order, before the
 * parameter's first slice. */
void param_slices_begin(param_slices *p, const rapt_params *set, bool (*wanted)(const void *, const rapt_param *, size_t),
                        const void *context);
/* Fills the list with the next slices; false if none are left. */
bool param_slices_next(param_slices *p);

#endif
