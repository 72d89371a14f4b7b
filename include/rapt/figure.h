/* rapt/figure.h: figures as SVG in memory, for notebooks and pages: heat maps of matrices such as attention weights, and curves
 * such as losses. `rapt plot` draws the same figures into files. They need no library for drawing and no fonts.
 *
 *    rapt_heatmap_options options = rapt_heatmap_options_default();
 *    options.title = "cross-attention, head 0";
 *    options.low = 0, options.high = 1;
 *    char *svg;
 *    if (rapt_heatmap_svg(weights, rows, columns, &options, &svg, NULL, &err) == RAPT_OK) {
 *        puts(svg);
 *        free(svg);
 *    }
 *
 * Texts are UTF-8 of any script; what is not UTF-8 is shown as U+FFFD. They stay texts in the SVG, set in the fonts of its
 * viewer. A long title takes several lines, other texts that are too long are shortened in the middle. */
#ifndef RAPT_FIGURE_H
#define RAPT_FIGURE_H

#include "rapt/base.h"
#include "rapt/defaults.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a matrix is shown; all texts are borrowed. */
typedef struct rapt_heatmap_options {
    size_t size;             /* of this struct; set by rapt_heatmap_options_default */
    const char *title;       /* above the map; NULL, here and below: none */
    const char *x, *y;       /* names of the axes: below the map, for columns, and left of it, for rows */
    const char *bar;         /* beside the color bar */
    const char *const *row_names, *const *column_names; /* [rows], [columns], written where all of a side have room, else numbers;
                                                           NULL: numbers from 0 */
    double low, high;        /* values at the ends of the color bar; NAN: the least, the greatest of the finite values */
    size_t cells;            /* max cells a side, 1 to 512. An SVG for a page has some 4,000 bytes, and 10 for each cell */
    bool paper;              /* true: a file with a white background. False: for a page, whose background shows through, and whose
                                color of text the texts have; as an image of a page: light or dark as its reader prefers */
    uint8_t reserved[7];     /* zeros, or else refused */
} rapt_heatmap_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_heatmap_options_init(rapt_heatmap_options *o, size_t size);
/* No texts, the range of the values, 512 cells, for a page. */
static inline rapt_heatmap_options rapt_heatmap_options_default(void)
{
    rapt_heatmap_options o;
    rapt_heatmap_options_init(&o, sizeof o);
    return o;
}

/* Draws values[rows, columns], row-major, row 0 topmost, in the colors of viridis, with a color bar. Values that are not finite
 * are gray (NaN) or have the color of the nearest end (infinities). At most options->cells cells a side are drawn: if there are
 * more rows or columns, several share a cell, which shows the value farthest from the mean of the matrix, so that single peaks
 * stay visible. *svg gets a NUL-terminated text that the caller frees with free(), at most some megabytes, and *size (which may
 * be NULL) its length. `options` may be NULL: the defaults. On failure *svg is left alone, and `err` (which may be NULL) is set:
 * RAPT_ERR_VALUE: no row or column, cells out of range, low not below high, a difference of values that is not finite, options
 * without a size; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_heatmap_svg(const rapt_real *values, size_t rows, size_t columns, const rapt_heatmap_options *options,
                                    char **svg, size_t *size, rapt_error *err);

/* Max points of all curves of a figure. */
#define RAPT_CURVES_POINTS 200000

/* One curve, which is borrowed. A zeroed member is absent. */
typedef struct rapt_curve {
    const char *name;    /* in the legend; NULL: none */
    const double *x, *y; /* [count] */
    size_t count;
    bool right;          /* y is of a second vertical axis, to the right */
    const void *reserved[3]; /* NULL, or refused */
} rapt_curve;

/* How curves are shown; all texts are borrowed. */
typedef struct rapt_curves_options {
    size_t size;               /* of this struct; set by rapt_curves_options_default */
    const char *title;         /* above the curves; NULL, here and below: none */
    const char *x, *y, *right; /* names of the axes: below, left and right */
    bool log_y;                /* the vertical axes are logarithmic; values that are not above 0 are left out */
    bool paper;                /* as in rapt_heatmap_options */
    uint8_t reserved[6];       /* zeros, or else refused */
} rapt_curves_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_curves_options_init(rapt_curves_options *o, size_t size);
/* No texts, linear axes, for a page. */
static inline rapt_curves_options rapt_curves_options_default(void)
{
    rapt_curves_options o;
    rapt_curves_options_init(&o, sizeof o);
    return o;
}

/* Draws curves[count] over one horizontal axis and one or two vertical axes, with a legend if one of the curves has a name. A
 * point that is not finite interrupts its curve; if a curve has at most 40 points, each has a dot. Color-blind readers can tell
 * the colors apart; from the eighth curve on, dashes differ as well. Results, ownership and errors as in rapt_heatmap_svg;
 * RAPT_ERR_VALUE also: no curve, more than 100 of them, or more than RAPT_CURVES_POINTS points. */
RAPT_API rapt_code rapt_curves_svg(const rapt_curve *curves, size_t count, const rapt_curves_options *options, char **svg,
                                   size_t *size, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif
