/* view/draw/heat_bar.h: the color bar beside heat maps. For heat.c. */
#ifndef VIEW_DRAW_HEAT_BAR_H
#define VIEW_DRAW_HEAT_BAR_H

#include "view/draw.h"
#include "view/draw/canvas.h"

/* Draws a bar of `height` whose upper left corner is (x, y). To its right are numbers, at both ends and at round numbers between,
 * and beside them the range's label, which runs upwards. */
void heat_bar_draw(canvas *c, draw_range range, double x, double y, double height);

#endif
