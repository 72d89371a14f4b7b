/* cli/plot/plot_out.c: the result of a subcommand of `rapt plot`, drawn to a file or printed as numbers. It computes only the
 * range of colors. */
#include "cli/plot/cmd_plot.h"
#include "cli/say.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ----------------------------------------------------------------------------------------------- */

/* As few digits as give the same number back. */
static void print_real(rapt_real x)
{
    char text[40] = "nan"; /* printf would show the sign that a NaN may have */
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG && !isnan(x); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if ((rapt_real)strtod(text, NULL) == x)
            break;
    }
    fputs(text, stdout);
}

static void print_index(const char *const *names, size_t i)
{
    if (names)
        cli_print_clean(stdout, names[i]);
    else
        printf("%zu", i);
}

static void print_heat(const draw_heat *map)
{
    for (size_t j = 0; j < map->columns; j++) {
        putchar('\t');
        print_index(map->column_names, j);
    }
    for (size_t i = 0; i < map->rows; i++) {
        putchar('\n');
        print_index(map->row_names, i);
        for (size_t j = 0; j < map->columns; j++) {
            putchar('\t');
            print_real(map->values[i * map->columns + j]);
        }
    }
    putchar('\n');
}

static void print_heat_maps(const draw_heat *maps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            fputs(i > 0 ? "\n# " : "# ", stdout);
            cli_print_clean(stdout, maps[i].labels.title ? maps[i].labels.title : "");
            putchar('\n');
        }
        print_heat(&maps[i]);
    }
}

static void plot_out_print_row(const char *name, double x, double y)
{
    cli_print_clean(stdout, name ? name : "");
    printf("\t%.*g\t%.*g", DBL_DIG, x, DBL_DIG, y);
}

static bool has_band(const draw_curve *curves, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || curves[i].low;
    return any;
}

/* The ends of a curve's band; empty columns if only other curves have one. */
static void print_band(const draw_curve *curve, size_t i, bool any)
{
    if (any && curve->low)
        printf("\t%.*g\t%.*g", DBL_DIG, curve->low[i], DBL_DIG, curve->high[i]);
    else if (any)
        fputs("\t\t", stdout);
    putchar('\n');
}

static void plot_out_print_header(draw_labels labels)
{
    fputs("name\t", stdout);
    cli_print_clean(stdout, labels.x ? labels.x : "x");
    putchar('\t');
    cli_print_clean(stdout, labels.y && !labels.right ? labels.y : "y");
}

/* ---- pictures ---------------------------------------------------------------------------------------------- */

static draw_labels override(const plot_options *o, draw_labels labels)
{
    labels.title = o->title ? o->title : labels.title;
    labels.x = o->x ? o->x : labels.x;
    labels.y = o->y ? o->y : labels.y;
    return labels;
}

/* If one end is given, the numbers decide the other. */
static draw_range range_of(const plot_options *o, const draw_heat *maps, size_t count)
{
    draw_range r = {o->low, o->high, o->has_low || o->has_high, o->bar && *o->bar ? o->bar : NULL};
    double min = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < maps[i].rows * maps[i].columns; j++) {
            double x = (double)maps[i].values[j];
            min = isfinite(x) ? fmin(min, x) : min;
            greatest = isfinite(x) ? fmax(greatest, x) : greatest;
        }
    r.low = o->has_low ? o->low : min;
    r.high = o->has_high ? o->high : greatest;
    return r;
}

/* Names the option at fault. If both ends are given, the options were checked before. */
static rapt_code check_range(const plot_options *o, draw_range r, rapt_error *err)
{
    if (!r.given || r.low < r.high)
        return RAPT_OK;
    if (o->has_low)
        return rapt_fail(err, RAPT_ERR_VALUE, "--low %g: no number is above it", o->low);
    return rapt_fail(err, RAPT_ERR_VALUE, "--high %g: no number is below it", o->high);
}

rapt_code plot_heat_maps(const plot_options *o, draw_heat *maps, size_t count, size_t across, const char *title,
                         rapt_error *err)
{
    draw_range range = range_of(o, maps, count);
    rapt_code code = check_range(o, range, err);
    for (size_t i = 0; i < count; i++) {
        maps[i].labels.x = o->x ? o->x : maps[i].labels.x;
        maps[i].labels.y = o->y ? o->y : maps[i].labels.y;
    }
    if (code)
        return code;
    if (o->out)
        return draw_heat_maps(maps, count, across, o->title ? o->title : title, range, o->out, err);
    print_heat_maps(maps, count);
    return RAPT_OK;
}

rapt_code plot_curves(const plot_options *o, const draw_curve *curves, size_t count, draw_labels labels, rapt_error *err)
{
    labels = override(o, labels);
    if (o->out)
        return draw_curves(curves, count, labels, o->out, err);
    const bool band = has_band(curves, count);
    plot_out_print_header(labels);
    fputs(band ? "\tlow\thigh\n" : "\n", stdout);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < curves[i].count; j++) {
            plot_out_print_row(curves[i].name, curves[i].x[j], curves[i].y[j]);
            print_band(&curves[i], j, band);
        }
    return RAPT_OK;
}

rapt_code plot_points(const plot_options *o, const draw_point *points, size_t count, draw_labels labels, rapt_error *err)
{
    labels = override(o, labels);
    if (o->out)
        return draw_points(points, count, labels, o->out, err);
    plot_out_print_header(labels);
    putchar('\n');
    for (size_t i = 0; i < count; i++) {
        plot_out_print_row(points[i].name, points[i].x, points[i].y);
        putchar('\n');
    }
    return RAPT_OK;
}
