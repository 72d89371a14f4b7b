/* view/draw.c: figures in files, PNG or SVG by their names, which appear whole. */
#include "view/draw.h"

#include "base/chars.h"
#include "base/file.h"
#include "view/draw_png.h"
#include "view/figure/figures.h"
#include "view/figure/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rapt_code draw_svg(canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err)
{
    svg_picture p = {.paper = true};
    const rapt_code code = svg_output(&p, draw, figure, err);
    *out = p.out;
    return code;
}

typedef rapt_code format_fn(canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err);

static format_fn *format_of(const char *path)
{
    if (strcmp(path, "-") == 0)
        return draw_png;
    size_t length = strlen(path);
    const char *ending = path + (length > 4 ? length - 4 : length);
    return chars_alike(ending, ".png") ? draw_png : chars_alike(ending, ".svg") ? draw_svg : NULL;
}

/* That stdout cannot be written is found at exit, as for every command. */
static rapt_code write_figure(const char *path, const buffer *out, rapt_error *err)
{
    if (strcmp(path, "-") != 0 && strcmp(path, "-.svg") != 0)
        return file_write_atomic(path, out->data, out->size, err);
    fwrite(out->data, 1, out->size, stdout);
    return RAPT_OK;
}

/* A canvas_output, whose context is the path. */
static rapt_code draw_to_path(void *to, canvas_draw_fn *draw, void *figure, rapt_error *err)
{
    const char *path = to;
    format_fn *format = format_of(path);
    rapt_error own = {0};
    buffer out = {0};
    if (!format)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %.380s: the name must end in .png or .svg, which says the format",
                         path);
    rapt_code code = format(draw, figure, &out, &own);
    code = code ? rapt_fail(err, code, "cannot draw %.200s: %s", path, own.message) : write_figure(path, &out, err);
    buffer_free(&out);
    return code;
}

rapt_code draw_heat_maps(const draw_heat *maps, size_t count, size_t across, const char *title, draw_range range,
                         const char *path, rapt_error *err)
{
    return figure_heat_maps(maps, count, (figure_grid){across, title}, range, draw_to_path, (void *)path, err);
}

rapt_code draw_curves(const draw_curve *curves, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    return figure_curves(curves, count, labels, draw_to_path, (void *)path, err);
}

rapt_code draw_points(const draw_point *points, size_t count, draw_labels labels, const char *path, rapt_error *err)
{
    return figure_points(points, count, labels, draw_to_path, (void *)path, err);
}
