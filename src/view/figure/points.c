/* view/figure/points.c: dots with their names beside them.
 * For maps of embeddings.
 * Not a search for the best arrangement: a few rounds in which each name takes the best place that the others leave. */
#include "view/figure/figures.h"

#include "view/figure/axes.h"
#include "view/figure/draw_type.h"
#include "view/figure/ticks.h"

#include <math.h>
#include <stdlib.h>

enum { MIN_WIDTH = 560, MAX_WIDTH = 1400, WIDTH_A_ROOT = 90, PLACES = 16, ROUNDS = 3, MAX_ARRANGED = 2000 };
enum { WIDEST_NAME = 140 };

#define RADIUS 2.8
#define GAP 2.5 /* from dot to name */
#define FAR 11  /* the distance for places farther out, which have a line to the dot */
#define PAD 0.07
#define APART 1.5 /* between names */
#define CLEAR 3   /* from a name to other dots, so that it is clear which dot it names */
#define COLOR 0x0072b2u

typedef struct rectangle {
    double left, top, right, bottom;
} rectangle;

typedef struct mark {
    const char *name; /* NULL: the dot has no name */
    double x, y, width;
    int place;
} mark;

typedef struct figure {
    axes axes;
    mark *marks;
    size_t count;
} figure;

/* ---- places ------------------------------------------------------------------------------------------------------------ */

/* Eight directions near the dot, then the same eight farther out. The first are where a reader expects a name. */
static const double directions[PLACES / 2][2] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}};

static rectangle box_at(const mark *m, int place)
{
    const double *to = directions[place % (PLACES / 2)];
    double away = RADIUS + (place < PLACES / 2 ? GAP : FAR), high = DRAW_NAME_SIZE;
    double slant = to[0] != 0 && to[1] != 0 ? 0.7 : 1;
    double x = m->x + slant * away * to[0] + m->width / 2 * to[0], y = m->y + (slant * away + high / 2) * to[1];
    return (rectangle){x - m->width / 2, y - high / 2, x + m->width / 2, y + high / 2};
}

/* A dot with its margin. */
static rectangle box_of_dot(const mark *m)
{
    return (rectangle){m->x - RADIUS - CLEAR, m->y - RADIUS - CLEAR, m->x + RADIUS + CLEAR, m->y + RADIUS + CLEAR};
}

static double shared_area(rectangle a, rectangle b)
{
    double width = fmin(a.right, b.right) - fmax(a.left, b.left), height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
    return width > 0 && height > 0 ? width * height : 0;
}

static double outside_area(const axes *a, rectangle r)
{
    return (r.right - r.left) * (r.bottom - r.top) - shared_area(r, (rectangle){0, 0, a->width, a->height});
}

/* The cost of a place: the area that it covers, in square points. Among equally free places the earlier is cheaper. */
static double cost(const figure *f, size_t i, int place)
{
    rectangle box = box_at(&f->marks[i], place);
    box = (rectangle){box.left - APART, box.top - APART / 2, box.right + APART, box.bottom + APART / 2};
    double sum = outside_area(&f->axes, box) + 0.05 * place + (place >= PLACES / 2 ? 4 : 0);
    for (size_t k = 0; k < f->count; k++) {
        const mark *other = &f->marks[k];
        if (k == i)
            continue;
        sum += 2 * shared_area(box, box_of_dot(other));
        if (other->name && other->place >= 0)
            sum += shared_area(box, box_at(other, other->place));
    }
    return sum;
}

static void choose_place(figure *f, size_t i)
{
    int best = 0;
    double min = INFINITY;
    for (int place = 0; place < PLACES; place++) {
        double now = cost(f, i, place);
        if (now < min) {
            min = now;
            best = place;
        }
    }
    f->marks[i].place = best;
}

/* If there are very many points, all names are put to the right: they would overlap anyway, and the search compares every name
 * with all others. */
static void arrange(figure *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->marks[i].place = f->count > MAX_ARRANGED ? 0 : -1;
    for (int round = 0; round < ROUNDS && f->count <= MAX_ARRANGED; round++)
        for (size_t i = 0; i < f->count; i++)
            if (f->marks[i].name)
                choose_place(f, i);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------------- */

static const canvas_type name_type = {.size = DRAW_NAME_SIZE, .anchor = 0.5, .widest = WIDEST_NAME};

static void draw_name(canvas *c, const mark *m)
{
    rectangle box = box_at(m, m->place);
    double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    if (m->place >= PLACES / 2) {
        c->color = DRAW_FRAME;
        canvas_line(c, m->x, m->y, fmax(box.left, fmin(box.right, m->x)), fmax(box.top, fmin(box.bottom, m->y)), 0.6);
    }
    canvas_text(c, &name_type, m->name, x, y);
}

static void points_draw_figure(canvas *c, void *what)
{
    figure *f = what;
    for (size_t i = 0; i < f->count; i++)
        f->marks[i].width = canvas_text_width(c, &name_type, f->marks[i].name);
    arrange(f);
    axes_draw(c, &f->axes);
    for (size_t i = 0; i < f->count; i++)
        if (f->marks[i].name)
            draw_name(c, &f->marks[i]);
    c->color = COLOR;
    for (size_t i = 0; i < f->count; i++)
        c->writer->dot(c, f->marks[i].x, f->marks[i].y, RADIUS);
}

/* ---- what is drawn ----------------------------------------------------------------------------------------------------- */

static bool points_is_drawn(const draw_point *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

static void points_collect(figure *f, const draw_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (points_is_drawn(&points[i])) {
            range_take(&f->axes.x, points[i].x);
            range_take(&f->axes.y, points[i].y);
        }
}

static void place_points(figure *f, const draw_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (points_is_drawn(&points[i]))
            f->marks[f->count++] = (mark){points[i].name && *points[i].name ? points[i].name : NULL,
                                          axes_x(&f->axes, points[i].x), axes_y(&f->axes, points[i].y)};
}

rapt_code figure_points(const draw_point *points, size_t count, draw_labels labels, canvas_output *output, void *to,
                        rapt_error *err)
{
    double width = round(fmax(MIN_WIDTH, fmin(MAX_WIDTH, WIDTH_A_ROOT * sqrt((double)count))));
    figure f = {{.width = width, .height = round(0.75 * width), .x = RANGE_OF_NONE, .y = RANGE_OF_NONE, .labels = labels}};
    if (count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw no point");
    points_collect(&f, points, count);
    rapt_code code = axes_settle(&f.axes, PAD, PAD, err);
    if (code != RAPT_OK)
        return code;
    f.marks = calloc(count, sizeof *f.marks);
    if (!f.marks)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu points", count);
    place_points(&f, points, count);
    code = output(to, points_draw_figure, &f, err);
    free(f.marks);
    return code;
}
