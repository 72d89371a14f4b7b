/* view/draw/png_canvas.h: the canvas of a PNG. For png.c, and png_text.c, which sets its texts. */
#ifndef VIEW_DRAW_PNG_CANVAS_H
#define VIEW_DRAW_PNG_CANVAS_H

#include "view/draw_png.h"

#include <pango/pangocairo.h>

typedef struct png_canvas {
    canvas base;
    cairo_t *cr;         /* failures stay in it */
    PangoLayout *layout; /* one for all texts */
    uint32_t missing;    /* the first letter that no font has; 0: all letters have one */
} png_canvas;

/* A layout for texts on `cr`. */
PangoLayout *png_layout_new(cairo_t *cr, PangoFontMap *fonts);

/* Two functions of a canvas_writer. */
double png_width(canvas *c, const canvas_type *type, const char *line);
void png_text(canvas *c, const canvas_type *type, const char *line, double x, double y);

#endif
