/* heat_bar.c: what the colours of heat maps stand for.
 * For heat.c.
 * Not the colours themselves: viridis.c. */
#include "view/draw/heat_bar.h"

#include "view/draw/draw_type.h"
#include "view/draw/ticks.h"
#include "view/draw/viridis.h"

#include <math.h>

enum { WIDTH = 14, TICK = 3, GAP = 7, STOPS = 32, APART = 50, APART_AT_LEAST = 25, FEW = 4, LEAST_TO_END = 14 };

/* Colours between the stops differ from viridis by less than the eye, or eight bits, can tell. */
static void heat_bar_fill(canvas *c, double x, double y, double height)
{
    cairo_pattern_t *colours = cairo_pattern_create_linear(x, y + height, x, y);
    for (int i = 0; i <= STOPS; i++) {
        uint32_t rgb = viridis((double)i / STOPS);
        cairo_pattern_add_color_stop_rgb(colours, (double)i / STOPS, (double)(rgb >> 16 & 0xff) / 255,
                                         (double)(rgb >> 8 & 0xff) / 255, (double)(rgb & 0xff) / 255);
    }
    cairo_set_source(c->cr, colours);
    cairo_rectangle(c->cr, x, y, WIDTH, height);
    cairo_fill(c->cr);
    cairo_pattern_destroy(colours);
}

static void draw_number(canvas *c, const char *text, double x, double y)
{
    canvas_type type = {.size = DRAW_TICK_SIZE};
    canvas_colour(c, DRAW_FRAME);
    canvas_line(c, x, y, x + TICK, y, DRAW_TICK_WIDTH);
    canvas_text(c, &type, text, x + GAP, y);
}

/* A round number at an end stands for it; one that is near an end makes way for it. */
static void draw_numbers(canvas *c, draw_range range, double x, double y, double height)
{
    double low = y + height, high = y;
    bool has_low = false, has_high = false;
    double wanted = fmax(height / APART, fmin(FEW, height / APART_AT_LEAST)); /* a short bar has some, too */
    ticks t = ticks_within(range.low, range.high, wanted);
    for (size_t i = 0; i < t.count; i++) {
        double at = y + height * (range.high - ticks_at(&t, i)) / (range.high - range.low);
        bool is_low = fabs(at - low) < 0.01, is_high = fabs(at - high) < 0.01;
        if (is_low || is_high || (low - at >= LEAST_TO_END && at - high >= LEAST_TO_END))
            draw_number(c, ticks_label(&t, i).text, x, at);
        has_low = has_low || is_low;
        has_high = has_high || is_high;
    }
    if (!has_low)
        draw_number(c, range_label(range, range.low).text, x, low);
    if (!has_high)
        draw_number(c, range_label(range, range.high).text, x, high);
}

void heat_bar_draw(canvas *c, draw_range range, double x, double y, double height)
{
    heat_bar_fill(c, x, y, height);
    canvas_colour(c, DRAW_FRAME);
    cairo_set_line_width(c->cr, DRAW_FRAME_WIDTH);
    cairo_rectangle(c->cr, x, y, WIDTH, height);
    cairo_stroke(c->cr);
    draw_numbers(c, range, x + WIDTH, y, height);
}
