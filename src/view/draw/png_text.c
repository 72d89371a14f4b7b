/* view/draw/png_text.c: one line of text on an image, of any script, at any angle, set by pango. What a line holds is decided in
 * ../figure/text.c. */
#include "view/draw/missing.h"
#include "view/draw/png_canvas.h"

#include <math.h>

/* Shapes of letters only, nothing fitted to pixels: widths are then the same at every scale. */
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

PangoLayout *png_layout_new(cairo_t *cr, PangoFontMap *fonts)
{
    PangoContext *context = pango_font_map_create_context(fonts);
    set_font_options(context);
    pango_cairo_update_context(cr, context);
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    g_object_unref(context); /* the layout has a reference */
    return layout;
}

static PangoRectangle png_set_line(png_canvas *c, const canvas_type *type, const char *line)
{
    PangoFontDescription *font = pango_font_description_from_string("Sans");
    PangoRectangle box;
    pango_font_description_set_absolute_size(font, type->size * PANGO_SCALE);
    if (type->bold)
        pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(c->layout, font);
    pango_font_description_free(font);
    pango_layout_set_text(c->layout, line, -1);
    pango_layout_get_extents(c->layout, NULL, &box);
    return box;
}

double png_width(canvas *c, const canvas_type *type, const char *line)
{
    return (double)png_set_line((png_canvas *)c, type, line).width / PANGO_SCALE;
}

void png_text(canvas *c, const canvas_type *type, const char *line, double x, double y)
{
    png_canvas *p = (png_canvas *)c;
    const PangoRectangle box = png_set_line(p, type, line);
    const uint32_t color = type->color ? type->color : DRAW_INK;
    p->missing = p->missing ? p->missing : missing_letter(p->layout);
    const double baseline = (double)pango_layout_get_baseline(p->layout) / PANGO_SCALE;
    cairo_save(p->cr);
    cairo_translate(p->cr, x, y);
    cairo_rotate(p->cr, -type->turn * acos(-1.0) / 180);
    cairo_move_to(p->cr, -(box.x + type->anchor * box.width) / PANGO_SCALE, HALF_CAPITAL * type->size - baseline);
    cairo_set_source_rgb(p->cr, (double)(color >> 16 & 0xff) / 255, (double)(color >> 8 & 0xff) / 255,
                         (double)(color & 0xff) / 255);
    pango_cairo_show_layout(p->cr, p->layout);
    cairo_restore(p->cr);
}
