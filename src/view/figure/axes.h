/* view/figure/axes.h: a pair of axes for real numbers. For curves and points. */
#ifndef VIEW_DRAW_AXES_H
#define VIEW_DRAW_AXES_H

#include "view/draw.h"
#include "view/figure/canvas.h"

/* The area for the data goes from (0, 0) to (width, height). */
typedef struct axes {
    double width, height;
    draw_range x, y, right;
    draw_labels labels;
    bool has_right;
    uint32_t left_color, right_color; /* the color of numbers and titles; 0: the color of all texts */
    bool log_y;   /* y and right, and their ranges, are logarithms to base 10 */
    bool whole_x; /* only whole numbers are marked: steps, positions */
} axes;

/* Settles the ranges, found by range_take, with margins of `pad_x` and `pad_y` of their lengths at each end. RAPT_ERR_VALUE:
 * a range that cannot be drawn. */
rapt_code axes_settle(axes *a, double pad_x, double pad_y, rapt_error *err);

/* Draws everything except the data. Returns how far it reaches beyond the right end of the area for the data. */
double axes_draw(canvas *c, const axes *a);

/* The coordinate of a value. */
double axes_x(const axes *a, double value);
double axes_y(const axes *a, double value);
double axes_right(const axes *a, double value);

#endif
