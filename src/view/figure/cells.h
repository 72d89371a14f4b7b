/* view/figure/cells.h: a matrix as colored rectangles. For heat maps and color bars. */
#ifndef VIEW_DRAW_CELLS_H
#define VIEW_DRAW_CELLS_H

#include "view/draw.h"
#include "view/figure/canvas.h"

typedef struct cells {
    size_t rows, columns;
    const rapt_real *values; /* row-major */
    size_t rows_together, columns_together; /* rows and columns drawn as one cell, with the value farthest from `usual` */
    double usual;
    double width, height;    /* the size of a drawn cell */
} cells;

/* How many cells are drawn. */
size_t cells_across(const cells *m);
size_t cells_down(const cells *m);

/* Draws them, the upper left corner at (x, y). */
void cells_paint(canvas *c, const cells *m, double x, double y, draw_range range);

#endif
