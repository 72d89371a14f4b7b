/* train/optimizer/pieces.h: all parameters of a set as one list of pieces for the threads: a model has many small
 * parameters, and a loop over threads for each would cost more than its work. Pieces depend on shapes alone, so sums over
 * them, taken in order, have the same bits for any number of threads. For the optimizer and the gradient norm. */
#ifndef TRAIN_OPTIMIZER_PIECES_H
#define TRAIN_OPTIMIZER_PIECES_H

#include "tape/tape_core.h"

#define PIECES_AT_ONCE 1024

/* Whole rows of a parameter; a vector has rows of one element. Blocks are what sums are made of: rows of 8,192 elements
 * together, at least one row; a piece has a few of them, and 64 rows at least. */
typedef struct piece {
    rapt_param *param;
    size_t index;       /* of the parameter in the set */
    size_t first, rows;
    size_t width;       /* of a row */
    size_t block;       /* rows of a block; the last one may have less */
    double sum;         /* for whoever wants one */
} piece;

typedef struct pieces {
    const rapt_params *set;
    bool (*wanted)(const void *context, const rapt_param *p, size_t index);
    const void *context;
    size_t param, row; /* where the next piece begins */
    size_t count, elements; /* of the list at hand */
    piece list[PIECES_AT_ONCE];
} pieces;

/* Begins with the parameters for which `wanted` is true; it is asked once for each, in order, before the first of
 * its pieces. */
void pieces_begin(pieces *p, const rapt_params *set, bool (*wanted)(const void *, const rapt_param *, size_t),
                  const void *context);
/* Fills the list with the next pieces; false where there are none left. */
bool pieces_next(pieces *p);

#endif
