/* view/figure/heat_bar.c: the color bar of heat maps.
 * For heat.c.
 * Not the colors themselves: viridis.c. */
#include "view/figure/heat_parts.h"

#include "view/figure/draw_type.h"
#include "view/figure/ticks.h"
#include "view/figure/viridis.h"

#include <math.h>

enum {
    WIDTH = 14, TICK = 3, GAP = 7, APART = 50, APART_AT_MIN = 25, FEW = 4, MIN_TO_END = 14,
    LABEL_GAP = 14, /* from the numbers to the middle of the label */
    LABEL_MIN = 160 /* room for the label of a short bar: it may be longer than the bar */
};

/* Returns the width of the number. */
static double draw_number(canvas *c, const char *text, double x, double y)
{
    canvas_type type = {.size = DRAW_TICK_SIZE};
    c->color = DRAW_FRAME;
    canvas_line(c, x, y, x + TICK, y, DRAW_TICK_WIDTH);
    canvas_text(c, &type, text, x + GAP, y);
    return canvas_text_width(c, &type, text);
}

/* A round number at an end takes the place of the end's number; a round number near an end is left out. Returns the width of the
 * widest. */
static double draw_numbers(canvas *c, draw_range range, double x, double y, double height)
{
    double low = y + height, high = y;
    bool has_low = false, has_high = false;
    double widest = 0, wanted = fmax(height / APART, fmin(FEW, height / APART_AT_MIN)); /* a short bar has a few */
    ticks t = ticks_within(range.low, range.high, wanted);
    for (size_t i = 0; i < t.count; i++) {
        double at = y + height * (range.high - ticks_at(&t, i)) / (range.high - range.low);
        bool is_low = fabs(at - low) < 0.01, is_high = fabs(at - high) < 0.01;
        if (is_low || is_high || (low - at >= MIN_TO_END && at - high >= MIN_TO_END))
            widest = fmax(widest, draw_number(c, ticks_label(&t, i).text, x, at));
        has_low = has_low || is_low;
        has_high = has_high || is_high;
    }
    if (!has_low)
        widest = fmax(widest, draw_number(c, range_label(range, range.low).text, x, low));
    if (!has_high)
        widest = fmax(widest, draw_number(c, range_label(range, range.high).text, x, high));
    return widest;
}

void heat_bar_draw(canvas *c, draw_range range, double x, double y, double height)
{
    c->writer->scale(c, viridis, x, y, WIDTH, height);
    c->color = DRAW_FRAME;
    c->writer->frame(c, x, y, WIDTH, height, DRAW_FRAME_WIDTH);
    double numbers = draw_numbers(c, range, x + WIDTH, y, height);
    canvas_type label = {.size = DRAW_AXIS_SIZE, .anchor = 0.5, .turn = 90, .widest = fmax(height, LABEL_MIN)};
    canvas_text(c, &label, range.label, x + WIDTH + GAP + numbers + LABEL_GAP, y + height / 2);
}
