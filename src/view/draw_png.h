/* view/draw_png.h: a figure as a PNG, drawn with cairo and pango, which are a module of the program (draw_module.c, draw/png.c).
 */
#ifndef VIEW_DRAW_PNG_H
#define VIEW_DRAW_PNG_H

#include "base/buffer.h"
#include "view/figure/canvas.h"

/* Adds the picture to *out, on white. RAPT_ERR_VALUE: too large; RAPT_ERR_NOT_FOUND: no font has one of its letters, or there is
 * no module; RAPT_ERR_MEMORY. */
RAPT_API rapt_code draw_png(canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err);

#endif
