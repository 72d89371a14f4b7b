/* view/figure/curves.c: curves over one pair of axes, and their legend.
 * For training curves and the dimensions of positional encodings.
 * Not smoothed, and no point is left out. */
#include "view/figure/figures.h"

#include "view/figure/axes.h"
#include "view/figure/draw_type.h"
#include "view/figure/ticks.h"

#include <math.h>

enum {
    WIDTH = 560,
    HEIGHT = 320,
    LEGEND_GAP = 20,
    LEGEND_LINE = 17,
    LEGEND_SAMPLE = 22,
    LEGEND_WIDEST = 260,
    COLUMN_GAP = 16,
    STYLES = 4,
    COLORS = 7,
    FEW = 40 /* points of a curve, that get dots */
};

#define LINE_WIDTH 1.7
#define DOT_RADIUS 2.2
#define PAD_Y 0.04
#define BAND_OPACITY 0.18

/* Colors that differ for every kind of color vision: M. Okabe and K. Ito, "Color Universal Design" (2008), without the yellow,
 * which is hard to see on white. */
static const uint32_t colors[COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};

/* Lengths of line and gap: the dashes differ when the colors repeat. */
static const double dashes[STYLES][4] = {{0}, {7, 4}, {2, 3}, {9, 3, 2, 3}};
static const int dash_counts[STYLES] = {0, 2, 2, 4};

typedef struct figure {
    axes axes;
    const draw_curve *curves;
    size_t count;
} figure;

typedef struct look {
    uint32_t color;
    size_t style;
} look;

static bool same_color(const figure *f, size_t i, size_t k)
{
    return f->curves[i].group && f->curves[i].group == f->curves[k].group;
}

/* With `mine`: how many curves before the i-th have its color. Without: how many different colors they have. */
static size_t count_before(const figure *f, size_t i, bool mine)
{
    size_t count = 0;
    for (size_t k = 0; k < i; k++) {
        bool first = true;
        for (size_t j = 0; j < k; j++)
            first = first && !same_color(f, j, k);
        count += mine ? same_color(f, k, i) : first;
    }
    return count;
}

/* The first curve of a group decides its color. */
static look look_of(const figure *f, size_t i)
{
    size_t first = 0;
    while (first < i && !same_color(f, first, i))
        first++;
    size_t color = count_before(f, first, false), rank = count_before(f, i, true);
    return (look){colors[color % COLORS], f->curves[i].group ? rank % STYLES : color / COLORS % STYLES};
}

static canvas_pen curves_take_pen(canvas *c, const figure *f, size_t i)
{
    look l = look_of(f, i);
    c->color = l.color;
    return (canvas_pen){LINE_WIDTH, true, dashes[l.style], dash_counts[l.style]};
}

/* The color of all curves of one vertical axis, or 0. */
static uint32_t color_of_axis(const figure *f, bool right)
{
    uint32_t color = 0;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t own = look_of(f, i).color;
        if (f->curves[i].right != right)
            continue;
        if (color && color != own)
            return 0;
        color = own;
    }
    return color;
}

static void color_axes(figure *f)
{
    uint32_t left = color_of_axis(f, false), right = color_of_axis(f, true);
    if (left && right && left != right) {
        f->axes.left_color = left;
        f->axes.right_color = right;
    }
}

/* A height as the axes have it; not finite: not drawn. */
static double curves_y(const axes *a, double y)
{
    return !a->log_y ? y : y > 0 ? log10(y) : NAN;
}

static bool curves_is_drawn(const axes *a, const draw_curve *curve, size_t i)
{
    return i < curve->count && isfinite(curve->x[i]) && isfinite(curves_y(a, curve->y[i]));
}

/* A few points can each be seen as a dot. A point between two points that are not drawn needs one, because its line would have no
 * length. */
static bool has_dot(const axes *a, const draw_curve *curve, size_t i)
{
    return curve->count <= FEW || !((i > 0 && curves_is_drawn(a, curve, i - 1)) || curves_is_drawn(a, curve, i + 1));
}

static double curves_height_of(const axes *a, const draw_curve *curve, double y)
{
    return curve->right ? axes_right(a, curves_y(a, y)) : axes_y(a, curves_y(a, y));
}

/* Along its lower end and back along the upper one; both are drawn where the curve is. */
static void draw_band(canvas *c, const figure *f, size_t i)
{
    const draw_curve *curve = &f->curves[i];
    size_t count = 0;
    c->color = look_of(f, i).color;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t k = 0; curve->low && k < curve->count; k++) {
            const size_t j = pass ? curve->count - 1 - k : k;
            const double y = curves_height_of(&f->axes, curve, (pass ? curve->high : curve->low)[j]);
            if (curves_is_drawn(&f->axes, curve, j) && isfinite(y))
                (count++ ? c->writer->extend : c->writer->begin)(c, axes_x(&f->axes, curve->x[j]), y);
        }
    if (count > 0)
        c->writer->area(c, BAND_OPACITY);
}

static void draw_curve_line(canvas *c, const canvas_pen *pen, const axes *a, const draw_curve *curve)
{
    bool on = false;
    for (size_t i = 0; i < curve->count; i++) {
        bool was_on = on;
        on = curves_is_drawn(a, curve, i);
        if (!on)
            continue;
        (was_on ? c->writer->extend : c->writer->begin)(c, axes_x(a, curve->x[i]), curves_height_of(a, curve, curve->y[i]));
    }
    c->writer->stroke(c, pen);
    for (size_t i = 0; i < curve->count; i++)
        if (curves_is_drawn(a, curve, i) && has_dot(a, curve, i))
            c->writer->dot(c, axes_x(a, curve->x[i]), curves_height_of(a, curve, curve->y[i]), DOT_RADIUS);
}

static void draw_entry(canvas *c, const figure *f, size_t i, double x, double y)
{
    canvas_type type = {.size = DRAW_NAME_SIZE, .widest = LEGEND_WIDEST};
    const canvas_pen pen = curves_take_pen(c, f, i);
    c->writer->begin(c, x, y);
    c->writer->extend(c, x + LEGEND_SAMPLE, y);
    c->writer->stroke(c, &pen);
    if (f->curves[i].count <= FEW)
        c->writer->dot(c, x + LEGEND_SAMPLE / 2.0, y, DOT_RADIUS);
    canvas_text(c, &type, f->curves[i].name, x + LEGEND_SAMPLE + 7, y);
}

/* Beside the data, so that it hides none, in as many columns as it takes. */
static void draw_legend(canvas *c, const figure *f, double beyond)
{
    canvas_type type = {.size = DRAW_NAME_SIZE, .widest = LEGEND_WIDEST};
    size_t rows = HEIGHT / LEGEND_LINE, row = 0;
    double x = WIDTH + beyond + LEGEND_GAP, widest = 0;
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

static void curves_draw_figure(canvas *c, void *what)
{
    figure *f = what;
    double beyond = axes_draw(c, &f->axes);
    for (size_t i = 0; i < f->count; i++)
        draw_band(c, f, i);
    for (size_t i = 0; i < f->count; i++) {
        const canvas_pen pen = curves_take_pen(c, f, i);
        draw_curve_line(c, &pen, &f->axes, &f->curves[i]);
    }
    draw_legend(c, f, beyond);
}

static void take_curve(axes *a, const draw_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curves_is_drawn(a, curve, i)) {
            draw_range *y = curve->right ? &a->right : &a->y;
            a->whole_x = a->whole_x && floor(curve->x[i]) == curve->x[i];
            range_take(&a->x, curve->x[i]);
            range_take(y, curves_y(a, curve->y[i]));
            for (size_t end = 0; curve->low && end < 2; end++)
                range_take(y, curves_y(a, (end ? curve->high : curve->low)[i]));
        }
}

rapt_code figure_curves(const draw_curve *curves, size_t count, draw_labels labels, canvas_output *output, void *to,
                        rapt_error *err)
{
    figure f = {{.width = WIDTH, .height = HEIGHT, .x = RANGE_OF_NONE, .y = RANGE_OF_NONE, .right = RANGE_OF_NONE,
                 .labels = labels, .log_y = labels.log_y, .whole_x = true}, curves, count};
    if (count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw no curve");
    for (size_t i = 0; i < count; i++) {
        f.axes.has_right = f.axes.has_right || curves[i].right;
        take_curve(&f.axes, &curves[i]);
    }
    if (labels.from_zero && f.axes.x.low > 0)
        range_take(&f.axes.x, 0);
    color_axes(&f);
    rapt_code code = axes_settle(&f.axes, 0, PAD_Y, err);
    return code == RAPT_OK ? output(to, curves_draw_figure, &f, err) : code;
}
