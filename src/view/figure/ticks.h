/* view/figure/ticks.h: round numbers along an axis. For axes and color bars. */
#ifndef VIEW_DRAW_TICKS_H
#define VIEW_DRAW_TICKS_H

#include <math.h>

#include "view/draw.h"

typedef struct ticks {
    double first, step; /* tick i is at (first + i) * step */
    size_t count;
    int decimals; /* that the labels need */
    bool log;     /* a logarithmic axis: tick i is at the logarithm of marks[i] */
    double marks[24];
} ticks;

/* The multiples of 1, 2 or 5 times a power of ten within [low, high], low < high; about `wanted` of them. */
ticks ticks_within(double low, double high, double wanted);

/* The ticks of an axis from 10^low to 10^high: powers of ten, and their multiples by 2 and 5 if there is room. An axis of less
 * than a factor of two has round numbers, as other axes do. */
ticks ticks_of_logarithm(double low, double high, double wanted);

double ticks_at(const ticks *t, size_t i);

typedef struct tick_label {
    char text[40];
} tick_label;

/* The number as a reader expects it: 0.25, 1000, a minus sign (U+2212), 2e-07 instead of too many decimals. */
tick_label ticks_label(const ticks *t, size_t i);

/* A number at an end of `r`, round or not: to a hundredth of the range, without zeros at its end. */
tick_label range_label(draw_range r, double value);

/* The smallest of 1, 2, 5, 10, 20, 50, ... that is not less than `min`. */
size_t ticks_whole_step(double min);

/* ---- ranges ---------------------------------------------------------------------------------------------------------- */

/* To find the range of values, start with this and call range_take for each; values that are not finite are left out. */
#define RANGE_OF_NONE ((draw_range){INFINITY, -INFINITY, false})
void range_take(draw_range *r, double value);

/* Makes the found range one to draw in: the range of one value is widened to both sides, the range of no value is [0, 1], and
 * `pad` of its width is added at each end. A range that was given stays unchanged. */
draw_range range_settle(draw_range r, double pad);

/* RAPT_ERR_VALUE if low is not below high, or if they are so far apart that their difference is not finite. */
rapt_code range_check(draw_range r, const char *what, rapt_error *err);

#endif
