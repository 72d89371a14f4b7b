/* view/figure/draw_type.h: sizes of texts and lines, for all figures. */
#ifndef VIEW_DRAW_DRAW_TYPE_H
#define VIEW_DRAW_DRAW_TYPE_H

#define DRAW_TITLE_SIZE 14 /* above a figure */
#define DRAW_PANEL_SIZE 12 /* above one map of several */
#define DRAW_AXIS_SIZE 12  /* the title of an axis */
#define DRAW_NAME_SIZE 11  /* tokens, legends */
#define DRAW_TICK_SIZE 10  /* numbers */

#define DRAW_TICK_WIDTH 1.0
#define DRAW_FRAME_WIDTH 1.2

#endif
