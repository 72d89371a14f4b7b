/* view/figure/figure_svg.c: rapt/figure.h: figures as SVG in memory. Limits are here, so that a matrix or a log of any size gives
 * a page that a browser can show. */
#include "rapt/figure.h"

#include "base/sized.h"
#include "view/figure/figures.h"
#include "view/figure/svg.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 512, CURVES = 100 }; /* cells a side of a map; curves, whose looks are compared with each other */

SIZED_ENDS_WITH(rapt_heatmap_options, reserved);
SIZED_ENDS_WITH(rapt_curves_options, reserved);

void rapt_heatmap_options_init(rapt_heatmap_options *o, size_t size)
{
    sized_init(o, size, &(rapt_heatmap_options){.low = (double)NAN, .high = (double)NAN, .cells = CELLS}, sizeof *o);
}

void rapt_curves_options_init(rapt_curves_options *o, size_t size)
{
    sized_init(o, size, &(rapt_curves_options){0}, sizeof *o);
}

static void figure_hand_out(const svg_picture *p, char **svg, size_t *size)
{
    *svg = p->out.data;
    if (size)
        *size = p->out.size;
}

/* The range that is asked for: what is not given is the data's. */
static draw_range figure_range(const rapt_heatmap_options *o, const rapt_real *values, size_t count)
{
    draw_range found = {.low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        found.low = isfinite(value) && value < found.low ? value : found.low;
        found.high = isfinite(value) && value > found.high ? value : found.high;
    }
    const bool low = !isnan(o->low), high = !isnan(o->high);
    return (draw_range){low ? o->low : found.low, high ? o->high : found.high, low || high, o->bar};
}

rapt_code rapt_heatmap_svg(const rapt_real *values, size_t rows, size_t columns, const rapt_heatmap_options *options, char **svg,
                           size_t *size, rapt_error *err)
{
    rapt_heatmap_options o = rapt_heatmap_options_default();
    rapt_code code = sized_take(&o, options, o.reserved, sizeof o.reserved, "heatmap_options", err);
    if (code)
        return code;
    if (rows == 0 || columns == 0 || rows > SIZE_MAX / columns)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw a heat map of %zu x %zu", rows, columns);
    if (o.cells == 0 || o.cells > CELLS)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw a heat map of %zu cells a side: it is 1 to %d", o.cells, CELLS);
    svg_picture p = {.paper = o.paper};
    const draw_heat map = {{.x = o.x, .y = o.y}, rows, columns, values, o.row_names, o.column_names};
    const figure_grid grid = {.title = o.title, .most = o.cells};
    code = figure_heat_maps(&map, 1, grid, figure_range(&o, values, rows * columns), svg_output, &p, err);
    if (!code)
        figure_hand_out(&p, svg, size);
    return code;
}

static rapt_code figure_check_curves(const rapt_curve *curves, size_t count, rapt_error *err)
{
    size_t points = 0;
    if (count == 0 || count > CURVES)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %zu curves: it is 1 to %d", count, CURVES);
    for (size_t i = 0; i < count && points <= RAPT_CURVES_POINTS; i++) {
        const rapt_curve *c = &curves[i];
        const rapt_code code = sized_check_reserved(c->reserved, sizeof c->reserved, "curve", err);
        if (code)
            return code;
        points = c->count <= RAPT_CURVES_POINTS ? points + c->count : SIZE_MAX;
    }
    if (points > RAPT_CURVES_POINTS)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw curves of more than %d points", RAPT_CURVES_POINTS);
    return RAPT_OK;
}

rapt_code rapt_curves_svg(const rapt_curve *curves, size_t count, const rapt_curves_options *options, char **svg, size_t *size,
                          rapt_error *err)
{
    rapt_curves_options o = rapt_curves_options_default();
    rapt_code code = sized_take(&o, options, o.reserved, sizeof o.reserved, "curves_options", err);
    code = code ? code : figure_check_curves(curves, count, err);
    if (code)
        return code;
    draw_curve *drawn = calloc(count, sizeof *drawn);
    if (!drawn)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu curves", count);
    for (size_t i = 0; i < count; i++)
        drawn[i] = (draw_curve){.name = curves[i].name, .count = curves[i].count, .x = curves[i].x, .y = curves[i].y,
                                .right = curves[i].right};
    svg_picture p = {.paper = o.paper};
    const draw_labels labels = {.title = o.title, .x = o.x, .y = o.y, .right = o.right, .log_y = o.log_y};
    code = figure_curves(drawn, count, labels, svg_output, &p, err);
    free(drawn);
    if (!code)
        figure_hand_out(&p, svg, size);
    return code;
}
