/* view/principal.h: principal components of a few points with many features each, for maps of embeddings.
 * Not for large sets: work grows with the cube of the number of points. */
#ifndef VIEW_PRINCIPAL_H
#define VIEW_PRINCIPAL_H

#include "rapt/base.h"

/* Of points x [rows, features], the coordinates [rows, axes] along the `axes` directions in which they vary most, seen
 * from their mean, and the share of the variance (0 to 1) that each direction has (Pearson 1901, Hotelling 1933).
 * Directions beyond rows - 1 or features hold zeros. A direction could as well point the other way: it is turned so
 * that the first point which is off the middle is on the positive side. The same points give the same bits. */
rapt_code principal_components(const double *x, size_t rows, size_t features, size_t axes, double *coordinates,
                               double *shares, rapt_error *err);

#endif
