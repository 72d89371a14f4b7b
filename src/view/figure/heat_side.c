/* view/figure/heat_side.c: tokens, or numbers at round steps, at the rows and columns of a heat map.
 * For heat.c.
 * Not for axes of real numbers: axes.c. */
#include "view/figure/heat_parts.h"

#include "view/figure/draw_type.h"
#include "view/figure/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICK = 3, GAP = 4, TITLE_GAP = 8, BETWEEN_NAMES = 5, BETWEEN_NUMBERS = 10, MIN_APART = 24, WIDEST_NAME = 120 };

#define MIN_SLANTED 1.7 /* a share of the font's size: lines at 45 degrees that are closer together would touch */

typedef struct label {
    char number[24];
    const char *text;
} label;

static const char *heat_side_label_of(const heat_side *s, size_t i, label *l)
{
    if (s->names)
        return s->names[i];
    snprintf(l->number, sizeof l->number, "%zu", i);
    return l->number;
}

static double widest_of(canvas *c, const heat_side *s)
{
    double widest = 0;
    label l;
    for (size_t i = s->names ? 0 : s->count - 1; i < s->count; i++)
        widest = fmax(widest, canvas_text_width(c, &s->type, heat_side_label_of(s, i, &l)));
    return widest;
}

/* Names that would run into each other are slanted, or turned by 90 degrees if even slanted lines would touch. */
static double turn_of(const heat_side *s, double widest)
{
    if (!s->names || widest + BETWEEN_NAMES <= s->cell)
        return 0;
    return s->cell >= MIN_SLANTED * s->type.size ? 45 : 90;
}

static size_t heat_side_step_of(const heat_side *s, double widest)
{
    return s->names ? 1 : ticks_whole_step((s->across ? fmax(widest + BETWEEN_NUMBERS, MIN_APART) : MIN_APART) / s->cell);
}

static double depth_of(const heat_side *s, double widest)
{
    double turn = s->type.turn * acos(-1.0) / 180, high = s->type.size;
    double names = TICK + GAP + (s->across ? widest * sin(turn) + high * cos(turn) : widest);
    return names + (s->title ? TITLE_GAP + DRAW_AXIS_SIZE : 0);
}

void heat_side_plan(canvas *c, heat_side *s)
{
    if (s->cell < HEAT_MIN_NAMED)
        s->names = NULL;
    double size = s->names ? fmin(DRAW_NAME_SIZE, 0.9 * s->cell) : DRAW_TICK_SIZE;
    s->type = (canvas_type){.size = size, .widest = WIDEST_NAME, .anchor = 1};
    double widest = widest_of(c, s);
    s->step = heat_side_step_of(s, widest);
    if (s->across) {
        s->type.turn = turn_of(s, widest);
        s->type.anchor = s->type.turn > 0 ? 1 : 0.5;
    }
    s->depth = depth_of(s, widest);
}

static void draw_below(canvas *c, const heat_side *s, const char *text, double x, double y)
{
    double slanted = s->type.turn == 45 ? 0.35 * s->type.size : 0; /* the corner of the text, not its middle, is at the tick */
    canvas_text(c, &s->type, text, x + slanted, y + TICK + GAP + (s->type.turn == 0 ? s->type.size / 2 : slanted));
}

static void draw_title(canvas *c, const heat_side *s, double x, double y)
{
    canvas_type type = {.size = DRAW_AXIS_SIZE, .anchor = 0.5, .turn = s->across ? 0 : 90};
    double middle = (double)s->count * s->cell / 2, away = s->depth - DRAW_AXIS_SIZE / 2.0;
    canvas_text(c, &type, s->title, s->across ? x + middle : x - away, s->across ? y + away : y + middle);
}

void heat_side_draw(canvas *c, const heat_side *s, double x, double y)
{
    label l;
    for (size_t i = 0; i < s->count; i += s->step) {
        double at = ((double)i + 0.5) * s->cell;
        c->color = DRAW_FRAME;
        if (s->across) {
            canvas_line(c, x + at, y, x + at, y + TICK, DRAW_TICK_WIDTH);
            draw_below(c, s, heat_side_label_of(s, i, &l), x + at, y);
        } else {
            canvas_line(c, x - TICK, y + at, x, y + at, DRAW_TICK_WIDTH);
            canvas_text(c, &s->type, heat_side_label_of(s, i, &l), x - TICK - GAP, y + at);
        }
    }
    draw_title(c, s, x, y);
}

static bool heat_side_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool heat_side_equal(const heat_side *a, const heat_side *b)
{
    if (a->count != b->count || !a->names != !b->names || !heat_side_same_text(a->title, b->title))
        return false;
    for (size_t i = 0; a->names && i < a->count; i++)
        if (!heat_side_same_text(a->names[i], b->names[i]))
            return false;
    return true;
}
