/* view/draw/png.c: the writer of PNG: measures a figure, and draws it on an image. png_text.c sets the texts. */
#include "view/draw/png_canvas.h"

#include "view/draw/missing.h"

#include <math.h>

static cairo_status_t png_append(void *to, const unsigned char *data, unsigned size)
{
    return buffer_append(to, data, size) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

static rapt_code fail_status(rapt_error *err, cairo_status_t status)
{
    return rapt_fail(err, status == CAIRO_STATUS_NO_MEMORY ? RAPT_ERR_MEMORY : RAPT_ERR_IO, "%s", cairo_status_to_string(status));
}

static cairo_t *cr_of(canvas *c)
{
    return ((png_canvas *)c)->cr;
}

static double channel(uint32_t rgb, int shift)
{
    return (double)(rgb >> shift & 0xff) / 255;
}

static void png_color(canvas *c, double opacity)
{
    cairo_set_source_rgba(cr_of(c), channel(c->color, 16), channel(c->color, 8), channel(c->color, 0), opacity);
}

/* ---- the functions of a canvas_writer ----------------------------------------------------------------------------------- */

static void png_begin(canvas *c, double x, double y)
{
    cairo_move_to(cr_of(c), x, y);
}

static void png_extend(canvas *c, double x, double y)
{
    cairo_line_to(cr_of(c), x, y);
}

static void png_stroke(canvas *c, const canvas_pen *pen)
{
    cairo_t *cr = cr_of(c);
    png_color(c, 1);
    cairo_set_line_width(cr, pen->width);
    cairo_set_line_join(cr, pen->round ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
    cairo_set_line_cap(cr, pen->round && pen->dash_count == 0 ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    cairo_set_dash(cr, pen->dashes, pen->dash_count, 0);
    cairo_stroke(cr);
}

static void png_area(canvas *c, double opacity)
{
    png_color(c, opacity);
    cairo_fill(cr_of(c));
}

static void png_dot(canvas *c, double x, double y, double radius)
{
    png_color(c, 1);
    cairo_arc(cr_of(c), x, y, radius, 0, 2 * acos(-1.0));
    cairo_fill(cr_of(c));
}

static void png_rectangle(canvas *c, double x, double y, double width, double height)
{
    png_color(c, 1);
    cairo_rectangle(cr_of(c), x, y, width, height);
    cairo_fill(cr_of(c));
}

static void png_frame(canvas *c, double x, double y, double width, double height, double line)
{
    cairo_rectangle(cr_of(c), x, y, width, height);
    png_stroke(c, &(canvas_pen){.width = line});
}

static void fill_pixels(cairo_surface_t *image, const canvas_cells *cells, size_t wide, size_t high)
{
    size_t stride = (size_t)cairo_image_surface_get_stride(image) / sizeof(uint32_t);
    uint32_t *pixels = (uint32_t *)(void *)cairo_image_surface_get_data(image);
    for (size_t row = 0; row < cells->down; row++)
        for (size_t column = 0; column < cells->across; column++) {
            uint32_t color = cells->color(cells->of, row, column);
            for (size_t i = row * high; i < (row + 1) * high; i++)
                for (size_t k = column * wide; k < (column + 1) * wide; k++)
                    pixels[i * stride + k] = color;
        }
}

static void png_cells(canvas *c, const canvas_cells *cells, double x, double y)
{
    cairo_t *cr = cr_of(c);
    size_t wide = (size_t)ceil(cells->width * CANVAS_SCALE), high = (size_t)ceil(cells->height * CANVAS_SCALE);
    int width = (int)(wide * cells->across), height = (int)(high * cells->down);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        cairo_surface_flush(image);
        fill_pixels(image, cells, wide, high);
        cairo_surface_mark_dirty(image);
    }
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, cells->width / (double)wide, cells->height / (double)high);
    cairo_set_source_surface(cr, image, 0, 0); /* a failed image makes the canvas fail */
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
}

/* Colors between the stops differ from viridis by less than the eye, or eight bits, can tell. */
static void png_scale(canvas *c, uint32_t (*color)(double share), double x, double y, double width, double height)
{
    enum { STOPS = 32 };
    cairo_pattern_t *colors = cairo_pattern_create_linear(x, y + height, x, y);
    for (int i = 0; i <= STOPS; i++) {
        const uint32_t rgb = color((double)i / STOPS);
        cairo_pattern_add_color_stop_rgb(colors, (double)i / STOPS, channel(rgb, 16), channel(rgb, 8), channel(rgb, 0));
    }
    cairo_set_source(cr_of(c), colors);
    cairo_rectangle(cr_of(c), x, y, width, height);
    cairo_fill(cr_of(c));
    cairo_pattern_destroy(colors);
}

static const canvas_writer png_writer = {png_begin, png_extend, png_stroke, png_area,  png_dot, png_rectangle,
                                         png_frame, png_cells,  png_scale,  png_width, png_text};

/* ---- the picture -------------------------------------------------------------------------------------------------------- */

/* Draws the figure once, its point (left, top) at the origin of `surface`. */
static rapt_code draw_on(cairo_surface_t *surface, PangoFontMap *fonts, double left, double top, canvas_draw_fn *draw,
                         void *figure, rapt_error *err)
{
    cairo_t *cr = cairo_create(surface);
    cairo_translate(cr, -left, -top);
    png_canvas c = {{&png_writer}, cr, png_layout_new(cr, fonts)};
    draw(&c.base, figure);
    cairo_status_t status = cairo_status(cr);
    g_object_unref(c.layout);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && c.missing)
        return missing_fail(c.missing, err); /* they would be boxes */
    return status == CAIRO_STATUS_SUCCESS ? RAPT_OK : fail_status(err, status);
}

typedef struct box {
    double left, top, width, height;
} box;

/* Whole points, so that a line drawn at whole points falls on whole pixels. */
static rapt_code png_measure(PangoFontMap *fonts, canvas_draw_fn *draw, void *figure, box *ink, rapt_error *err)
{
    cairo_surface_t *paper = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    rapt_code code = draw_on(paper, fonts, 0, 0, draw, figure, err);
    box b = {0};
    cairo_recording_surface_ink_extents(paper, &b.left, &b.top, &b.width, &b.height);
    cairo_surface_destroy(paper);
    ink->left = floor(b.left) - CANVAS_MARGIN;
    ink->top = floor(b.top) - CANVAS_MARGIN;
    ink->width = ceil(b.left + b.width) + CANVAS_MARGIN - ink->left;
    ink->height = ceil(b.top + b.height) + CANVAS_MARGIN - ink->top;
    return code ? code : canvas_check_size(ink->width, ink->height, err);
}

static void paint_white(cairo_surface_t *surface)
{
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_destroy(cr);
}

static rapt_code png_paint(PangoFontMap *fonts, box size, canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(CANVAS_SCALE * size.width),
                                                        (int)(CANVAS_SCALE * size.height));
    cairo_surface_set_device_scale(image, CANVAS_SCALE, CANVAS_SCALE);
    paint_white(image);
    rapt_code code = draw_on(image, fonts, size.left, size.top, draw, figure, err);
    cairo_status_t status = code ? CAIRO_STATUS_SUCCESS : cairo_surface_write_to_png_stream(image, png_append, out);
    cairo_surface_destroy(image);
    return status != CAIRO_STATUS_SUCCESS ? fail_status(err, status) : code;
}

rapt_code draw_png(canvas_draw_fn *draw, void *figure, buffer *out, rapt_error *err)
{
    PangoFontMap *fonts = pango_cairo_font_map_new();
    box size;
    rapt_code code = png_measure(fonts, draw, figure, &size, err);
    code = code ? code : png_paint(fonts, size, draw, figure, out, err);
    g_object_unref(fonts);
    return code;
}
