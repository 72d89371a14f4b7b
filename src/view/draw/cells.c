/* view/draw/cells.c: paints a matrix: few cells as rectangles, which stay sharp at any size, many as one image. For heat maps and
 * color bars. viridis.c has the colors; heat.c draws everything around the matrix. */
#include "view/draw/cells.h"

#include "view/draw/viridis.h"

#include <math.h>

enum { MAX_RECTANGLES = 4096 };

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

static uint32_t color_of(const cells *m, size_t row, size_t column, draw_range range)
{
    return viridis((cells_value_of(m, row, column) - range.low) / (range.high - range.low));
}

static void paint_rectangles(canvas *c, const cells *m, double x, double y, draw_range range)
{
    size_t across = cells_across(m), down = cells_down(m);
    for (size_t row = 0; row < down; row++)
        for (size_t column = 0; column < across; column++) {
            canvas_color(c, color_of(m, row, column, range));
            cairo_rectangle(c->cr, x + (double)column * m->width, y + (double)row * m->height,
                            m->width + (column + 1 < across ? OVERLAP : 0), m->height + (row + 1 < down ? OVERLAP : 0));
            cairo_fill(c->cr);
        }
}

static void fill_pixels(cairo_surface_t *image, const cells *m, size_t wide, size_t high, draw_range range)
{
    size_t stride = (size_t)cairo_image_surface_get_stride(image) / sizeof(uint32_t);
    uint32_t *pixels = (uint32_t *)(void *)cairo_image_surface_get_data(image);
    for (size_t row = 0; row < cells_down(m); row++)
        for (size_t column = 0; column < cells_across(m); column++) {
            uint32_t color = color_of(m, row, column, range);
            for (size_t i = row * high; i < (row + 1) * high; i++)
                for (size_t k = column * wide; k < (column + 1) * wide; k++)
                    pixels[i * stride + k] = color;
        }
}

/* The image has the pixels of the PNG, several to a cell: programs that show an SVG blur an image that they enlarge. */
static void paint_image(canvas *c, const cells *m, double x, double y, draw_range range)
{
    size_t wide = (size_t)ceil(m->width * DRAW_PNG_SCALE), high = (size_t)ceil(m->height * DRAW_PNG_SCALE);
    int width = (int)(wide * cells_across(m)), height = (int)(high * cells_down(m));
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        cairo_surface_flush(image);
        fill_pixels(image, m, wide, high, range);
        cairo_surface_mark_dirty(image);
    }
    cairo_save(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_scale(c->cr, m->width / (double)wide, m->height / (double)high);
    cairo_set_source_surface(c->cr, image, 0, 0); /* a failed image makes the canvas fail */
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(c->cr);
    cairo_restore(c->cr);
    cairo_surface_destroy(image);
}

void cells_paint(canvas *c, const cells *m, double x, double y, draw_range range)
{
    bool few = cells_across(m) * cells_down(m) <= MAX_RECTANGLES;
    (few ? paint_rectangles : paint_image)(c, m, x, y, range);
}
