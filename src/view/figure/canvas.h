/* view/figure/canvas.h: what figures draw on, and its two writers: an SVG's (svg.c) and a PNG's (../draw/png.c, which the program
 * loads as a module). For the three kinds of figure; lengths are in points of the screen. */
#ifndef VIEW_FIGURE_CANVAS_H
#define VIEW_FIGURE_CANVAS_H

#include "rapt/base.h"

typedef struct canvas canvas;

/* How a text is set. Zero but for `size`: upright, from its point to the right. */
typedef struct canvas_type {
    double size;   /* the font's size, about four fifths of the height of a line */
    double anchor; /* the share of the text that is left of its point: 0, 0.5, 1 */
    double turn;   /* counterclockwise about the point, in degrees */
    double widest; /* in a longer text an ellipsis replaces the middle; 0: never */
    bool bold;
    uint32_t color; /* 0: DRAW_INK */
} canvas_type;

#define HALF_CAPITAL 0.36 /* a share of the font's size; capitals are about 0.72 high in common fonts */

/* How a line is drawn. */
typedef struct canvas_pen {
    double width;
    bool round; /* where it bends; without dashes, also its ends */
    const double *dashes; /* [dash_count] lengths of line and gap */
    int dash_count;
} canvas_pen;

/* Rows of cells of one size. */
typedef struct canvas_cells {
    size_t across, down;
    double width, height; /* of a cell */
    uint32_t (*color)(const void *of, size_t row, size_t column);
    const void *of;
} canvas_cells;

/* A writer. What fails stays in the canvas, and is found when the picture is done. */
typedef struct canvas_writer {
    /* A path of lines: begins at a point, goes to a point; then its lines are drawn, or what they enclose is filled. */
    void (*begin)(canvas *c, double x, double y);
    void (*extend)(canvas *c, double x, double y);
    void (*stroke)(canvas *c, const canvas_pen *pen);
    void (*area)(canvas *c, double opacity);
    void (*dot)(canvas *c, double x, double y, double radius);
    void (*rectangle)(canvas *c, double x, double y, double width, double height); /* filled */
    void (*frame)(canvas *c, double x, double y, double width, double height, double line);
    /* Many cells, which are not worth a rectangle each. */
    void (*cells)(canvas *c, const canvas_cells *cells, double x, double y);
    /* A rectangle whose color is `color(0)` at its lower end and `color(1)` at its upper one. */
    void (*scale)(canvas *c, uint32_t (*color)(double share), double x, double y, double width, double height);
    /* One line of text, without what must not be shown (text.c): how wide it is, and setting it with `HALF_CAPITAL` of its size
     * below y as its baseline. They do not read type->widest. */
    double (*width)(canvas *c, const canvas_type *type, const char *line);
    void (*text)(canvas *c, const canvas_type *type, const char *line, double x, double y);
} canvas_writer;

/* The first member of a writer's own struct. */
struct canvas {
    const canvas_writer *writer;
    uint32_t color; /* 0xRRGGBB of what is drawn, except texts */
    bool small;     /* few bytes count more than edges that are sharp at any size */
};

/* Draws a figure; called twice, to measure and to draw, so it does the same each time. The figure may choose any origin. */
typedef void canvas_draw_fn(canvas *c, void *figure);

/* What a figure becomes: makes a picture of what `draw` draws, with a margin of CANVAS_MARGIN around it. */
typedef rapt_code canvas_output(void *to, canvas_draw_fn *draw, void *figure, rapt_error *err);

enum { CANVAS_MARGIN = 10, CANVAS_MAX_PIXELS = 16384 }; /* a side of a picture, which has CANVAS_SCALE of them to a point */
#define CANVAS_SCALE 2

/* RAPT_ERR_VALUE: a picture of this size is too large. */
rapt_code canvas_check_size(double width, double height, rapt_error *err);

/* A straight line in the current color. */
void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width);

/* ---- text.c ------------------------------------------------------------------------------------------------------------- */

/* Sets one line; (x, y) is at half the height of its capitals, so texts of all scripts in one row share a baseline. Control
 * characters, and the spaces of a text of spaces only, are shown as signs. If `text` is NULL, nothing is drawn. */
void canvas_text(canvas *c, const canvas_type *type, const char *text, double x, double y);

/* A title over something of `width`, centered at x, upwards from y. A wider title is broken into lines. */
void canvas_title(canvas *c, const char *text, double x, double y, double width);

/* The width that canvas_text would take if it is not turned; 0 if `text` is NULL. */
double canvas_text_width(canvas *c, const canvas_type *type, const char *text);

#define DRAW_INK 0x222222u   /* texts */
#define DRAW_FRAME 0x666666u /* axes and their ticks */
#define DRAW_FAINT 0xe4e4e4u /* lines behind the data */

#endif
