/* view/figure/heat_parts.h: what stands beside a heat map. For heat.c. */
#ifndef VIEW_DRAW_HEAT_PARTS_H
#define VIEW_DRAW_HEAT_PARTS_H

#include "view/draw.h"
#include "view/figure/canvas.h"

/* ---- heat_bar.c: the color bar beside heat maps. */

/* Draws a bar of `height` whose upper left corner is (x, y). To its right are numbers, at both ends and at round numbers between,
 * and beside them the range's label, which runs upwards. */
void heat_bar_draw(canvas *c, draw_range range, double x, double y, double height);

/* ---- heat_side.c: names or numbers along one side of a heat map. */

/* One side: where the cells are, and the names or numbers beside them. */
typedef struct heat_side {
    size_t count;
    double cell;              /* from one to the next */
    const char *const *names; /* NULL: numbers */
    const char *title;
    bool across; /* below the map; false: left of it */

    /* Decided by heat_side_plan. */
    canvas_type type;
    size_t step;  /* one of `step` names is written */
    double depth; /* how far names and title reach from the edge of the map */
} heat_side;

/* The minimum height of a cell beside which a name is written. */
#define HEAT_MIN_NAMED 11.5

void heat_side_plan(canvas *c, heat_side *s);

/* Writes along the edge that starts at (x, y). */
void heat_side_draw(canvas *c, const heat_side *s, double x, double y);

/* Whether both sides would have the same texts. */
bool heat_side_equal(const heat_side *a, const heat_side *b);

#endif
