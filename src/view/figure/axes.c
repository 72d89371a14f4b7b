/* view/figure/axes.c: lines at round numbers, the numbers, the label of each axis, and a title. For curves and points. Heat maps
 * have one place for each row and column at their sides, which heat_side.c draws. */
#include "view/figure/axes.h"

#include "view/figure/draw_type.h"
#include "view/figure/ticks.h"

#include <math.h>

enum { TICK = 3, GAP = 4, TITLE_GAP = 8, TICKS_APART_X = 75, TICKS_APART_Y = 45 };

rapt_code axes_settle(axes *a, double pad_x, double pad_y, rapt_error *err)
{
    a->x = range_settle(a->x, pad_x);
    a->y = range_settle(a->y, pad_y);
    a->right = range_settle(a->right, pad_y);
    rapt_code code = range_check(a->x, "an axis", err);
    if (code == RAPT_OK)
        code = range_check(a->y, "an axis", err);
    return code == RAPT_OK && a->has_right ? range_check(a->right, "an axis", err) : code;
}

double axes_x(const axes *a, double value)
{
    return a->width * (value - a->x.low) / (a->x.high - a->x.low);
}

double axes_y(const axes *a, double value)
{
    return a->height * (a->y.high - value) / (a->y.high - a->y.low);
}

double axes_right(const axes *a, double value)
{
    return a->height * (a->right.high - value) / (a->right.high - a->right.low);
}

static void draw_across(canvas *c, const axes *a)
{
    canvas_type number = {.size = DRAW_TICK_SIZE, .anchor = 0.5}, title = {.size = DRAW_AXIS_SIZE, .anchor = 0.5};
    double max = a->whole_x ? a->x.high - a->x.low : INFINITY;
    ticks t = ticks_within(a->x.low, a->x.high, fmin(max, a->width / TICKS_APART_X));
    for (size_t i = 0; i < t.count; i++) {
        double x = axes_x(a, ticks_at(&t, i));
        c->color = DRAW_FAINT;
        canvas_line(c, x, 0, x, a->height, DRAW_TICK_WIDTH);
        c->color = DRAW_FRAME;
        canvas_line(c, x, a->height, x, a->height + TICK, DRAW_TICK_WIDTH);
        canvas_text(c, &number, ticks_label(&t, i).text, x, a->height + TICK + GAP + DRAW_TICK_SIZE / 2.0);
    }
    double below = TICK + GAP + DRAW_TICK_SIZE + TITLE_GAP + DRAW_AXIS_SIZE / 2.0;
    canvas_text(c, &title, a->labels.x, a->width / 2, a->height + below);
}

static ticks axes_ticks_up(const axes *a, draw_range r)
{
    const double wanted = a->height / TICKS_APART_Y;
    return a->log_y ? ticks_of_logarithm(r.low, r.high, wanted) : ticks_within(r.low, r.high, wanted);
}

static void draw_up(canvas *c, const axes *a)
{
    canvas_type number = {.size = DRAW_TICK_SIZE, .anchor = 1, .color = a->left_color};
    canvas_type title = {.size = DRAW_AXIS_SIZE, .anchor = 0.5, .turn = 90, .color = a->left_color};
    ticks t = axes_ticks_up(a, a->y);
    double widest = 0;
    for (size_t i = 0; i < t.count; i++) {
        double y = axes_y(a, ticks_at(&t, i));
        tick_label label = ticks_label(&t, i);
        c->color = DRAW_FAINT;
        canvas_line(c, 0, y, a->width, y, DRAW_TICK_WIDTH);
        c->color = DRAW_FRAME;
        canvas_line(c, -TICK, y, 0, y, DRAW_TICK_WIDTH);
        canvas_text(c, &number, label.text, -TICK - GAP, y);
        widest = fmax(widest, canvas_text_width(c, &number, label.text));
    }
    canvas_text(c, &title, a->labels.y, -TICK - GAP - widest - TITLE_GAP - DRAW_AXIS_SIZE / 2.0, a->height / 2);
}

/* Only the left axis has lines behind the data: the lines of two axes could not be told apart. */
static double draw_right(canvas *c, const axes *a)
{
    canvas_type number = {.size = DRAW_TICK_SIZE, .color = a->right_color};
    canvas_type title = {.size = DRAW_AXIS_SIZE, .anchor = 0.5, .turn = 90, .color = a->right_color};
    ticks t = axes_ticks_up(a, a->right);
    double widest = 0, x = a->width;
    for (size_t i = 0; i < t.count; i++) {
        double y = axes_right(a, ticks_at(&t, i));
        tick_label label = ticks_label(&t, i);
        c->color = DRAW_FRAME;
        canvas_line(c, x, y, x + TICK, y, DRAW_TICK_WIDTH);
        canvas_text(c, &number, label.text, x + TICK + GAP, y);
        widest = fmax(widest, canvas_text_width(c, &number, label.text));
    }
    c->color = DRAW_FRAME;
    canvas_line(c, x, 0, x, a->height, DRAW_FRAME_WIDTH);
    canvas_text(c, &title, a->labels.right, x + TICK + GAP + widest + TITLE_GAP + DRAW_AXIS_SIZE / 2.0, a->height / 2);
    return TICK + GAP + widest + (a->labels.right ? TITLE_GAP + DRAW_AXIS_SIZE : 0);
}

double axes_draw(canvas *c, const axes *a)
{
    draw_across(c, a);
    draw_up(c, a);
    c->color = DRAW_FRAME;
    canvas_line(c, 0, 0, 0, a->height, DRAW_FRAME_WIDTH);
    canvas_line(c, 0, a->height, a->width, a->height, DRAW_FRAME_WIDTH);
    canvas_title(c, a->labels.title, a->width / 2, -TITLE_GAP - DRAW_TITLE_SIZE / 2.0, a->width);
    return a->has_right ? draw_right(c, a) : 0;
}
