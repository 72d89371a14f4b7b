/* cells.h: a matrix as coloured rectangles. For heat maps and colour bars. */
#ifndef DRAW_CELLS_H
#define DRAW_CELLS_H

#include "view/draw.h"
#include "view/draw/canvas.h"

typedef struct cells {
    size_t rows, columns;
    const rapt_real *values; /* row-major */
    size_t together;         /* so many rows, and so many columns, are drawn as one cell of their mean value */
    double width, height;    /* of a drawn cell */
} cells;

/* How many cells are drawn. */
size_t cells_across(const cells *m);
size_t cells_down(const cells *m);

/* Draws them, the upper left corner at (x, y). */
void cells_paint(canvas *c, const cells *m, double x, double y, draw_range range);

#endif
