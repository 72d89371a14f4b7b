/* view/draw.h: pictures in files: heat maps, curves, points with names. For `rapt plot` and the book; numbers and names in, a PNG
 * or SVG out (draw.c). The figures themselves, which take the same structs, are the library's: figure/figures.h. Not a drawing
 * library: it knows three kinds of figure, and their design is fixed. */
#ifndef VIEW_DRAW_H
#define VIEW_DRAW_H

#include "rapt/base.h"

/* For all functions below
 *   - texts are UTF-8 of any script; what is not UTF-8 is shown as U+FFFD;
 *   - `path` ends in .png or .svg (capitals or not), which says the format; another ending is RAPT_ERR_VALUE; "-" is a PNG on
 *     stdout, "-.svg" an SVG there. The file appears whole or not at all: on an error nothing is left behind, and a file that
 *     was there stays as it was;
 *   - the same figure gives the same bytes; the pixels of a PNG also depend on the fonts, the bytes of an image in an SVG on
 *     zlib;
 *   - an SVG holds its texts as text, which can be searched and copied, and set in the fonts of its viewer; a long title
 *     takes several lines, other texts that are too long are shortened in the middle;
 *   - a PNG with a letter that no font here has is RAPT_ERR_NOT_FOUND: the message names a package of Debian that has one; a
 *     program without its module for PNG is RAPT_ERR_NOT_FOUND, too;
 *   - numbers that are not finite are left out, in heat maps drawn gray (NaN) or as the nearest end (infinities);
 *   - errors: RAPT_ERR_VALUE for an impossible figure (no map, no row, count 0, low not below high, too large to draw),
 *     RAPT_ERR_MEMORY, and the errors of file_write_atomic. */

typedef struct draw_labels {
    const char *title, *x, *y; /* NULL: none */
    const char *right;         /* the second vertical axis of curves */
    bool log_y;                /* curves: the vertical axes are logarithmic; values that are not above 0 are left out */
    bool from_zero;            /* curves: the horizontal axis begins at 0, unless an x is below it */
} draw_labels;

/* One heat map; row 0 is the topmost. Names are written at a side where all of them fit, else numbers. If there are more rows or
 * columns than 880 to 1280 (1920 for one map alone), several are drawn as one cell, which shows the value farthest from the mean
 * of the map, so that single peaks stay visible. */
typedef struct draw_heat {
    draw_labels labels;
    size_t rows, columns;
    const rapt_real *values;         /* row-major */
    const char *const *row_names;    /* `rows` of them; NULL: numbers at round steps, from 0 */
    const char *const *column_names; /* `columns` of them; NULL: numbers, as for rows */
} draw_heat;

typedef struct draw_curve {
    const char *name; /* in the legend; NULL: none */
    size_t count;
    const double *x, *y;
    size_t group; /* curves of the same group have one color and differ in their dashes; 0: a curve by itself */
    bool right;   /* y is of the axis to the right */
    const double *low, *high; /* [count] ends of a band around the curve; NULL: no band */
} draw_curve;

typedef struct draw_point {
    const char *name; /* NULL: a dot only */
    double x, y;
} draw_point;

typedef struct draw_range {
    double low, high;
    bool given;        /* false: from the minimum to the maximum of the data */
    const char *label; /* beside the color bar; NULL: none */
} draw_range;

/* A grid of heat maps with one color bar (viridis), `across` maps in a row; 0: nearly square. `title` stands above
 * all of them; NULL: none. */
rapt_code draw_heat_maps(const draw_heat *maps, size_t count, size_t across, const char *title, draw_range range,
                                  const char *path, rapt_error *err);

/* Curves over a horizontal axis and one or two vertical axes, with a legend if one of the curves has a name. A point that is not
 * finite interrupts its curve; if a curve has few points, each has a dot. Color-blind readers can tell the colors apart; from the
 * eighth curve on, dashes differ as well. Each vertical axis has its own range, and the color of its curves if they share one. If
 * every x is whole, only whole numbers are marked on the horizontal axis. */
rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err);

/* Dots with their names beside them. Names are placed so that they do not overlap, as far as such places are found. */
rapt_code draw_points(const draw_point *points, size_t count, draw_labels labels, const char *path, rapt_error *err);

#endif
