/* text.c: one line of text, of any script, at any angle.
 * For titles, names and numbers of figures.
 * Not a paragraph: nothing is broken into lines. */
#include "view/draw/canvas.h"

#include "text/utf8.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

/* Longer texts are cut before they are set: no figure has room for so many bytes. */
enum { MOST_BYTES = 600 };

enum {
    RETURN_ARROW = 0x21B5,
    TAB_ARROW = 0x21E5,
    PICTURE_OF_NUL = 0x2400, /* those of the other 31 follow */
    PICTURE_OF_DELETE = 0x2421,
    OPEN_BOX = 0x2423,
    ELLIPSIS = 0x2026,
    NOT_A_CHARACTER = 0xFFFD
};

#define HALF_CAPITAL 0.36 /* of the font's size; capitals are about 0.72 high in the fonts that people have */

/* Control characters have no shape, and a line break would make two lines: Unicode has pictures of them, and arrows for the
 * two that are common in texts. */
static uint32_t visible(uint32_t code, bool blank)
{
    if (code == '\n' || code == '\t')
        return code == '\n' ? RETURN_ARROW : TAB_ARROW;
    if (code == ' ' && blank)
        return OPEN_BOX;
    return code < 0x20 ? PICTURE_OF_NUL + code : code == 0x7F ? PICTURE_OF_DELETE : code;
}

/* `text` as valid UTF-8 that can be seen: of a token of spaces only, each is shown. */
static void tidy(const char *text, char out[MOST_BYTES + 8])
{
    size_t size = strlen(text), at = 0, end = 0;
    bool blank = strspn(text, " ") == size;
    while (at < size && end < MOST_BYTES) {
        uint32_t code;
        size_t used = utf8_decode(text + at, size - at, &code);
        end += utf8_encode(used ? visible(code, blank) : NOT_A_CHARACTER, out + end);
        at += used ? used : 1;
    }
    if (at < size)
        end += utf8_encode(ELLIPSIS, out + end);
    out[end] = '\0';
}

static void set_font(PangoLayout *layout, const canvas_type *type)
{
    PangoFontDescription *font = pango_font_description_from_string("Sans");
    pango_font_description_set_absolute_size(font, type->size * PANGO_SCALE);
    if (type->bold)
        pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
}

/* Sets the line; its box, in points. A width is asked for only where the line is too long: within a width, pango would
 * push a line that runs from right to left to the right end. */
static PangoRectangle set_line(canvas *c, const canvas_type *type, const char *text)
{
    char line[MOST_BYTES + 8];
    PangoRectangle box;
    tidy(text, line);
    set_font(c->layout, type);
    pango_layout_set_single_paragraph_mode(c->layout, TRUE);
    pango_layout_set_ellipsize(c->layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_width(c->layout, -1);
    pango_layout_set_text(c->layout, line, -1);
    pango_layout_get_extents(c->layout, NULL, &box);
    if (type->widest > 0 && box.width > type->widest * PANGO_SCALE) {
        pango_layout_set_width(c->layout, (int)(type->widest * PANGO_SCALE));
        pango_layout_get_extents(c->layout, NULL, &box);
    }
    return box;
}

double canvas_text_width(canvas *c, const canvas_type *type, const char *text)
{
    return text && *text ? (double)set_line(c, type, text).width / PANGO_SCALE : 0;
}

void canvas_text(canvas *c, const canvas_type *type, const char *text, double x, double y)
{
    if (!text || !*text)
        return;
    PangoRectangle box = set_line(c, type, text);
    double baseline = (double)pango_layout_get_baseline(c->layout) / PANGO_SCALE;
    cairo_save(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_rotate(c->cr, -type->turn * acos(-1.0) / 180);
    cairo_move_to(c->cr, -(box.x + type->anchor * box.width) / PANGO_SCALE, HALF_CAPITAL * type->size - baseline);
    canvas_colour(c, DRAW_INK);
    pango_cairo_show_layout(c->cr, c->layout);
    cairo_restore(c->cr);
}

void canvas_colour(canvas *c, uint32_t rgb)
{
    cairo_set_source_rgb(c->cr, (double)(rgb >> 16 & 0xff) / 255, (double)(rgb >> 8 & 0xff) / 255, (double)(rgb & 0xff) / 255);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width)
{
    cairo_set_line_width(c->cr, width);
    cairo_move_to(c->cr, x0, y0);
    cairo_line_to(c->cr, x1, y1);
    cairo_stroke(c->cr);
}
