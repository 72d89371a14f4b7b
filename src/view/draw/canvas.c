/* view/draw/canvas.c: measures a figure, draws it on an image or an SVG, and puts the file in its place. For the three kinds of
 * figure. text.c sets the texts. */
#define _GNU_SOURCE
#include "view/draw/canvas.h"

#include "base/buffer.h"
#include "base/file.h"
#include "view/draw/missing.h"
#include "view/draw/svg.h"

#include <cairo-svg.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MARGIN = 10, MAX_PIXELS_A_SIDE = 16384 };

/* The file grows in memory: it is renamed into place whole, by the code that all files of rapt go through. */
static cairo_status_t canvas_append(void *to, const unsigned char *data, unsigned size)
{
    return buffer_append(to, data, size) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

static rapt_code fail_status(rapt_error *err, const char *path, cairo_status_t status)
{
    rapt_code code = status == CAIRO_STATUS_NO_MEMORY ? RAPT_ERR_MEMORY : RAPT_ERR_IO;
    return rapt_fail(err, code, "cannot draw %.380s: %s", path, cairo_status_to_string(status));
}

/* ---- one pass over the figure ------------------------------------------------------------------------------------------ */

/* Shapes of letters only, nothing fitted to pixels: widths are then the same at every scale and in every format. */
static void set_font_options(PangoContext *context)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(context, FALSE);
    pango_context_set_language(context, pango_language_from_string("en")); /* otherwise the user's locale would choose fonts */
}

/* The family that stands for "Sans" on this machine. */
static void begin_texts(svg_texts *texts, PangoContext *context)
{
    PangoFontDescription *wanted = pango_font_description_from_string("Sans");
    PangoFont *font = pango_context_load_font(context, wanted);
    PangoFontDescription *found = font ? pango_font_describe(font) : NULL;
    svg_texts_begin(texts, found ? pango_font_description_get_family(found) : "sans-serif");
    if (found)
        pango_font_description_free(found);
    if (font)
        g_object_unref(font);
    pango_font_description_free(wanted);
}

/* Draws the figure once, its point (left, top) at the origin of `surface`; its texts go to `texts` unless that is NULL. */
static rapt_code draw_on(cairo_surface_t *surface, PangoFontMap *fonts, double left, double top, canvas_draw_fn *draw,
                         void *figure, svg_texts *texts, const char *path, rapt_error *err)
{
    cairo_t *cr = cairo_create(surface);
    cairo_translate(cr, -left, -top);
    PangoContext *context = pango_font_map_create_context(fonts);
    set_font_options(context);
    pango_cairo_update_context(cr, context);
    if (texts)
        begin_texts(texts, context);
    canvas c = {cr, pango_layout_new(context), texts, 0};
    draw(&c, figure);
    cairo_status_t status = cairo_status(cr);
    g_object_unref(c.layout);
    g_object_unref(context);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && c.missing && cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE)
        return missing_fail(c.missing, path, err); /* in a PNG the missing letters would be boxes */
    return status == CAIRO_STATUS_SUCCESS ? RAPT_OK : fail_status(err, path, status);
}

typedef struct box {
    double left, top, width, height;
} box;

/* Whole points, so that a line drawn at whole points falls on whole pixels. */
static rapt_code canvas_measure(PangoFontMap *fonts, canvas_draw_fn *draw, void *figure, box *ink, const char *path,
                                rapt_error *err)
{
    cairo_surface_t *paper = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    rapt_code code = draw_on(paper, fonts, 0, 0, draw, figure, NULL, path, err);
    box b = {0};
    cairo_recording_surface_ink_extents(paper, &b.left, &b.top, &b.width, &b.height);
    cairo_surface_destroy(paper);
    ink->left = floor(b.left) - MARGIN;
    ink->top = floor(b.top) - MARGIN;
    ink->width = ceil(b.left + b.width) + MARGIN - ink->left;
    ink->height = ceil(b.top + b.height) + MARGIN - ink->top;
    return code;
}

static void paint_white(cairo_surface_t *surface)
{
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_destroy(cr);
}

/* ---- formats ----------------------------------------------------------------------------------------------------------- */

static rapt_code draw_png(PangoFontMap *fonts, box size, canvas_draw_fn *draw, void *figure, const char *path, buffer *out,
                          rapt_error *err)
{
    double width = DRAW_PNG_SCALE * size.width, height = DRAW_PNG_SCALE * size.height;
    if (!(width <= MAX_PIXELS_A_SIDE && height <= MAX_PIXELS_A_SIDE))
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %.380s: it would be %.0f x %.0f pixels, and %d a side are the most",
                         path,
                         width, height, MAX_PIXELS_A_SIDE);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    cairo_surface_set_device_scale(image, DRAW_PNG_SCALE, DRAW_PNG_SCALE);
    paint_white(image);
    rapt_code code = draw_on(image, fonts, size.left, size.top, draw, figure, NULL, path, err);
    cairo_status_t status = code == RAPT_OK ? cairo_surface_write_to_png_stream(image, canvas_append, out) : CAIRO_STATUS_SUCCESS;
    cairo_surface_destroy(image);
    return status != CAIRO_STATUS_SUCCESS ? fail_status(err, path, status) : code;
}

static rapt_code draw_svg(PangoFontMap *fonts, box size, canvas_draw_fn *draw, void *figure, const char *path, buffer *out,
                          rapt_error *err)
{
    cairo_surface_t *paper = cairo_svg_surface_create_for_stream(canvas_append, out, size.width, size.height);
    cairo_svg_surface_set_document_unit(paper, CAIRO_SVG_UNIT_PX);
    paint_white(paper);
    svg_texts texts;
    rapt_code code = draw_on(paper, fonts, size.left, size.top, draw, figure, &texts, path, err);
    cairo_surface_finish(paper);
    cairo_status_t status = cairo_surface_status(paper);
    cairo_surface_destroy(paper);
    if (code == RAPT_OK && status != CAIRO_STATUS_SUCCESS)
        code = fail_status(err, path, status);
    if (code == RAPT_OK)
        code = svg_renumber(&out->data, &out->size, err);
    rapt_code ended = svg_texts_end(&texts, &out->data, &out->size, code == RAPT_OK ? err : NULL);
    return code == RAPT_OK ? ended : code;
}

typedef rapt_code format_fn(PangoFontMap *fonts, box size, canvas_draw_fn *draw, void *figure, const char *path, buffer *out,
                            rapt_error *err);

static format_fn *format_of(const char *path)
{
    if (strcmp(path, "-") == 0)
        return draw_png;
    size_t length = strlen(path);
    const char *ending = path + (length > 4 ? length - 4 : length);
    return strcasecmp(ending, ".png") == 0 ? draw_png : strcasecmp(ending, ".svg") == 0 ? draw_svg : NULL;
}

/* That stdout cannot be written is found at exit, as for every command. */
static rapt_code write_figure(const char *path, const buffer *out, rapt_error *err)
{
    if (strcmp(path, "-") != 0 && strcmp(path, "-.svg") != 0)
        return file_write_atomic(path, out->data, out->size, err);
    fwrite(out->data, 1, out->size, stdout);
    return RAPT_OK;
}

rapt_code canvas_write(canvas_draw_fn *draw, void *figure, const char *path, rapt_error *err)
{
    format_fn *format = format_of(path);
    if (!format)
        return rapt_fail(err, RAPT_ERR_VALUE, "cannot draw %.380s: the name must end in .png or .svg, which says the format",
                         path);
    PangoFontMap *fonts = pango_cairo_font_map_new();
    buffer out = {0};
    box size;
    rapt_code code = canvas_measure(fonts, draw, figure, &size, path, err);
    if (code == RAPT_OK)
        code = format(fonts, size, draw, figure, path, &out, err);
    if (code == RAPT_OK)
        code = write_figure(path, &out, err);
    g_object_unref(fonts);
    free(out.data);
    return code;
}
