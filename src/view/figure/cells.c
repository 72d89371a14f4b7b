/* view/figure/cells.c: paints a matrix: few cells as rectangles, which stay sharp at any size, many as one image. For heat maps
 * and color bars. viridis.c has the colors; heat.c draws everything around the matrix. */
#include "view/figure/cells.h"

#include "view/figure/viridis.h"

#include <math.h>

enum { MAX_RECTANGLES = 4096, FEW_RECTANGLES = 64 }; /* some 70 bytes of SVG each */

#define OVERLAP 0.6 /* into the next cell, which is painted over it, so that no background is seen between two edges */

static size_t parts(size_t n, size_t together)
{
    return (n + together - 1) / together;
}

size_t cells_across(const cells *m)
{
    return parts(m->columns, m->columns_together);
}

size_t cells_down(const cells *m)
{
    return parts(m->rows, m->rows_together);
}

static size_t end_of(size_t i, size_t together, size_t n)
{
    return (i + 1) * together < n ? (i + 1) * together : n;
}

/* The value farther from the usual value; the greater one if both are equally far. */
static double farther(const cells *m, double a, double b)
{
    double from_a = fabs(a - m->usual), from_b = fabs(b - m->usual);
    return isnan(a) || from_b > from_a || (from_b == from_a && b > a) ? b : a;
}

/* The value that a drawn cell shows: not the mean, in which single peaks among thousands of cells would fade. NaN if all values
 * are NaN. */
static double cells_value_of(const cells *m, size_t row, size_t column)
{
    double found = (double)NAN;
    size_t end_row = end_of(row, m->rows_together, m->rows), end_column = end_of(column, m->columns_together, m->columns);
    for (size_t r = row * m->rows_together; r < end_row; r++)
        for (size_t k = column * m->columns_together; k < end_column; k++)
            found = farther(m, found, (double)m->values[r * m->columns + k]);
    return found;
}

/* A matrix and its range. */
typedef struct colored {
    const cells *cells;
    draw_range range;
} colored;

static uint32_t color_of(const void *of, size_t row, size_t column)
{
    const colored *m = of;
    return viridis((cells_value_of(m->cells, row, column) - m->range.low) / (m->range.high - m->range.low));
}

static void paint_rectangles(canvas *c, const canvas_cells *all, double x, double y)
{
    for (size_t row = 0; row < all->down; row++)
        for (size_t column = 0; column < all->across; column++) {
            c->color = all->color(all->of, row, column);
            c->writer->rectangle(c, x + (double)column * all->width, y + (double)row * all->height,
                                 all->width + (column + 1 < all->across ? OVERLAP : 0),
                                 all->height + (row + 1 < all->down ? OVERLAP : 0));
        }
}

void cells_paint(canvas *c, const cells *m, double x, double y, draw_range range)
{
    const colored values = {m, range};
    const canvas_cells all = {cells_across(m), cells_down(m), m->width, m->height, color_of, &values};
    (all.across * all.down <= (c->small ? FEW_RECTANGLES : MAX_RECTANGLES) ? paint_rectangles : c->writer->cells)(c, &all, x, y);
}
