/* view/principal.h: principal components of a few points with many features each, for maps of embeddings.
 * Not for large sets: work grows with the cube of the number of points. */
#ifndef VIEW_PRINCIPAL_H
#define VIEW_PRINCIPAL_H

#include "rapt/base.h"

/* Principal components (Pearson 1901, Hotelling 1933): for points x [rows, features], the coordinates [rows, axes], relative to
 * their mean, along the `axes` directions in which they vary most, and the share of the variance (0 to 1) in each direction.
 * Directions beyond rows - 1 or features hold zeros. The sign of a direction is arbitrary: it is chosen so that the first point
 * off the middle is on the positive side. The same points give the same bits. */
rapt_code principal_components(const double *x, size_t rows, size_t features, size_t axes, double *coordinates,
                               double *shares, rapt_error *err);

#endif
