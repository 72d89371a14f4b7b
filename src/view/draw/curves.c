/* curves.c: curves over one pair of axes, and their legend.
 * For training curves and the dimensions of positional encodings.
 * Not smoothed, and no point is left out. */
#include "view/draw.h"
#include "view/draw/axes.h"
#include "view/draw/draw_type.h"
#include "view/draw/ticks.h"

#include <math.h>

enum {
    WIDTH = 560,
    HEIGHT = 320,
    LEGEND_GAP = 20,
    LEGEND_LINE = 17,
    LEGEND_SAMPLE = 22,
    LEGEND_WIDEST = 160,
    COLUMN_GAP = 16,
    STYLES = 4,
    COLOURS = 7
};

#define LINE_WIDTH 1.7
#define PAD_Y 0.04

/* Colours that differ for every kind of colour vision: M. Okabe and K. Ito, "Color Universal Design" (2008), without the
 * yellow, which is hardly seen on white. */
static const uint32_t colours[COLOURS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};

/* Lengths of line and gap; where colours come round again, lines differ. */
static const double dashes[STYLES][4] = {{0}, {7, 4}, {2, 3}, {9, 3, 2, 3}};
static const int dash_counts[STYLES] = {0, 2, 2, 4};

typedef struct figure {
    axes axes;
    const draw_curve *curves;
    size_t count;
} figure;

static void set_line(canvas *c, size_t i)
{
    size_t style = i / COLOURS % STYLES;
    canvas_colour(c, colours[i % COLOURS]);
    cairo_set_line_width(c->cr, LINE_WIDTH);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(c->cr, dash_counts[style] ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(c->cr, dashes[style], dash_counts[style], 0);
}

static bool is_drawn(const draw_curve *curve, size_t i)
{
    return i < curve->count && isfinite(curve->x[i]) && isfinite(curve->y[i]);
}

/* A point between two that are not drawn would be a line of no length: it gets a dot. */
static void add_dot(canvas *c, double x, double y)
{
    cairo_stroke(c->cr);
    cairo_arc(c->cr, x, y, 1.5 * LINE_WIDTH, 0, 2 * acos(-1.0));
    cairo_fill(c->cr);
}

static void draw_curve_line(canvas *c, const axes *a, const draw_curve *curve)
{
    bool on = false;
    for (size_t i = 0; i < curve->count; i++) {
        bool was_on = on;
        on = is_drawn(curve, i);
        if (!on)
            continue;
        double x = axes_x(a, curve->x[i]), y = axes_y(a, curve->y[i]);
        if (was_on)
            cairo_line_to(c->cr, x, y);
        else if (is_drawn(curve, i + 1))
            cairo_move_to(c->cr, x, y);
        else
            add_dot(c, x, y);
    }
    cairo_stroke(c->cr);
}

static void draw_entry(canvas *c, const figure *f, size_t i, double x, double y)
{
    canvas_type type = {.size = DRAW_NAME_SIZE, .widest = LEGEND_WIDEST};
    set_line(c, i);
    canvas_line(c, x, y, x + LEGEND_SAMPLE, y, LINE_WIDTH);
    canvas_text(c, &type, f->curves[i].name, x + LEGEND_SAMPLE + 7, y);
}

/* Beside the data, where it hides none of them, in as many columns as it takes. */
static void draw_legend(canvas *c, const figure *f)
{
    canvas_type type = {.size = DRAW_NAME_SIZE, .widest = LEGEND_WIDEST};
    size_t rows = HEIGHT / LEGEND_LINE, row = 0;
    double x = WIDTH + LEGEND_GAP, widest = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (!f->curves[i].name)
            continue;
        if (row == rows) {
            x += LEGEND_SAMPLE + 7 + widest + COLUMN_GAP;
            row = 0;
            widest = 0;
        }
        draw_entry(c, f, i, x, (double)(LEGEND_LINE * row++) + LEGEND_LINE / 2.0);
        widest = fmax(widest, canvas_text_width(c, &type, f->curves[i].name));
    }
}

static void draw_figure(canvas *c, void *what)
{
    figure *f = what;
    axes_draw(c, &f->axes);
    for (size_t i = 0; i < f->count; i++) {
        set_line(c, i);
        draw_curve_line(c, &f->axes, &f->curves[i]);
    }
    draw_legend(c, f);
}

rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    figure f = {{WIDTH, HEIGHT, RANGE_OF_NONE, RANGE_OF_NONE, labels, true}, curves, count};
    if (count == 0)
        return rapt_fail(err, RAPT_VALUE, "cannot draw %.380s: no curve", path);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < curves[i].count; k++)
            if (is_drawn(&curves[i], k)) {
                f.axes.whole_x = f.axes.whole_x && floor(curves[i].x[k]) == curves[i].x[k];
                range_take(&f.axes.x, curves[i].x[k]);
                range_take(&f.axes.y, curves[i].y[k]);
            }
    rapt_code code = axes_settle(&f.axes, 0, PAD_Y, err);
    return code == RAPT_OK ? canvas_write(draw_figure, &f, path, err) : code;
}
