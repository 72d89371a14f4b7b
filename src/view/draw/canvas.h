/* view/draw/canvas.h: a picture that is as large as its drawing; text in any script. For the three kinds of figure; lengths are
 * in points of the screen (a PNG has DRAW_PNG_SCALE pixels to one). Not a wrapper of cairo: figures call cairo themselves for
 * lines and areas. */
#ifndef VIEW_DRAW_CANVAS_H
#define VIEW_DRAW_CANVAS_H

#include <cairo.h>
#include <pango/pango.h>

#include "rapt/base.h"

#define DRAW_PNG_SCALE 2

struct svg_texts;

typedef struct canvas {
    cairo_t *cr;
    PangoLayout *layout;     /* one for all texts */
    struct svg_texts *texts; /* for an SVG: collects texts, which stay text there; otherwise NULL */
    uint32_t missing;        /* the first letter that no font has; 0: all letters have one */
} canvas;

/* Draws a figure; called twice, to measure and to draw, so it does the same each time. The figure may
 * choose any origin. Failures of cairo stay in `cr` and need no checks. */
typedef void canvas_draw_fn(canvas *c, void *figure);

/* Writes what `draw` draws to `path`, with a margin around it, on white. */
rapt_code canvas_write(canvas_draw_fn *draw, void *figure, const char *path, rapt_error *err);

/* How a text is set. Zero but for `size`: upright, from its point to the right. */
typedef struct canvas_type {
    double size;   /* the font's size, about four fifths of the height of a line */
    double anchor; /* the share of the text that is left of its point: 0, 0.5, 1 */
    double turn;   /* counterclockwise about the point, in degrees */
    double widest; /* in a longer text an ellipsis replaces the middle; 0: never */
    bool bold;
    uint32_t color; /* 0: DRAW_INK */
} canvas_type;

/* Sets one line; (x, y) is at half the height of its capitals, so texts of all scripts in one row share a baseline. Control
 * characters, and the spaces of a text of spaces only, are shown as signs. If `text` is NULL, nothing is drawn. */
void canvas_text(canvas *c, const canvas_type *type, const char *text, double x, double y);

/* A title over something of `width`, centered at x, upwards from y. A wider title is broken into lines. */
void canvas_title(canvas *c, const char *text, double x, double y, double width);

/* The width of that line, before it is turned; 0 for NULL and "". */
double canvas_text_width(canvas *c, const canvas_type *type, const char *text);

void canvas_color(canvas *c, uint32_t rgb);

/* A straight line in the current color. */
void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width);

#define DRAW_INK 0x222222u   /* texts */
#define DRAW_FRAME 0x666666u /* axes and their ticks */
#define DRAW_FAINT 0xe4e4e4u /* lines behind the data */

#endif
