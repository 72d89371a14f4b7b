/* view/draw/text.c: one line of text, of any script, at any angle; and titles, which may take several. For titles, names and
 * numbers of figures. No paragraphs: titles are centered and have few lines. */
#include "view/draw/canvas.h"

#include "text/utf8.h"
#include "view/draw/draw_type.h"
#include "view/draw/missing.h"
#include "view/draw/svg.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

/* Longer texts are shortened in the middle before they are set: no figure has space for them. */
enum { MAX_BYTES = 600, TITLE_LINES = 4, TITLE_MIN = 420 };

#define TITLE_LEADING 1.3 /* the distance between lines, as a share of the font's size */

enum {
    RETURN_ARROW = 0x21B5,
    TAB_ARROW = 0x21E5,
    PICTURE_OF_NUL = 0x2400, /* the pictures of the other 31 follow */
    PICTURE_OF_DELETE = 0x2421,
    OPEN_BOX = 0x2423,
    ELLIPSIS = 0x2026,
    NOT_A_CHARACTER = 0xFFFD
};

#define HALF_CAPITAL 0.36 /* a share of the font's size; capitals are about 0.72 high in common fonts */

/* Control characters have no shape, and a line break would make two lines: Unicode has pictures of them, and arrows for the
 * two that are common in texts. */
static uint32_t visible(uint32_t code, bool blank)
{
    if (code == '\n' || code == '\t')
        return code == '\n' ? RETURN_ARROW : TAB_ARROW;
    if (code == ' ' && blank)
        return OPEN_BOX;
    if ((code & 0xFFFE) == 0xFFFE) /* no XML may have it */
        return NOT_A_CHARACTER;
    return code < 0x20 ? PICTURE_OF_NUL + code : code == 0x7F ? PICTURE_OF_DELETE : code;
}

/* Capacity for a tidy text: bytes that are not text become three each. */
typedef char tidy_text[3 * MAX_BYTES + 8];

/* Where the longest end of a text begins that has at most `max` bytes and begins with a whole character. */
static size_t tail_at(const char *text, size_t size, size_t max)
{
    size_t at = size - max;
    while (at < size && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

/* `text` as valid UTF-8 that can be seen: if a token has only spaces, each is shown as a sign. */
static void tidy(const char *text, tidy_text out)
{
    size_t size = strlen(text), at = 0, end = 0;
    bool blank = strspn(text, " ") == size, is_long = size > MAX_BYTES;
    while (at < size) {
        uint32_t code;
        size_t used = utf8_decode(text + at, size - at, &code);
        end += utf8_put(used ? visible(code, blank) : NOT_A_CHARACTER, out + end);
        at += used ? used : 1;
        if (is_long && at >= MAX_BYTES / 2) {
            end += utf8_put(ELLIPSIS, out + end);
            at = tail_at(text, size, MAX_BYTES / 2);
            is_long = false;
        }
    }
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

static PangoRectangle box_of(canvas *c, const char *line)
{
    PangoRectangle box;
    pango_layout_set_text(c->layout, line, -1);
    pango_layout_get_extents(c->layout, NULL, &box);
    return box;
}

/* Where a cursor may be in the line that is set: between the characters that a reader sees as one. Returns how many places. */
static size_t cursor_places(PangoLayout *layout, const char *line, size_t places[MAX_BYTES + 8])
{
    int attributes;
    size_t count = 0, max = MAX_BYTES + 8;
    const PangoLogAttr *at = pango_layout_get_log_attrs_readonly(layout, &attributes);
    const char *p = line;
    for (int i = 0; i < attributes && count < max; i++, p = g_utf8_next_char(p)) {
        if (at[i].is_cursor_position)
            places[count++] = (size_t)(p - line);
        if (!*p)
            break;
    }
    return count;
}

/* The line with only `kept` of its letters, half of them before an ellipsis and half behind it. */
static void shorten(const char *line, const size_t *places, size_t count, size_t kept, tidy_text out)
{
    size_t head = places[(kept + 1) / 2], tail = places[count - 1 - kept / 2];
    memcpy(out, line, head);
    size_t end = head + utf8_put(ELLIPSIS, out + head);
    strcpy(out + end, line + tail);
}

/* Names differ at their ends as often as at their beginnings: the middle is left out. */
static void cut_middle(canvas *c, tidy_text line, double widest)
{
    size_t places[MAX_BYTES + 8], count = cursor_places(c->layout, line, places), min = 0, max = count ? count - 1 : 0;
    tidy_text shorter;
    if (count < 2)
        return;
    while (min + 1 < max) {
        size_t kept = (min + max) / 2;
        shorten(line, places, count, kept, shorter);
        *(box_of(c, shorter).width <= widest * PANGO_SCALE ? &min : &max) = kept;
    }
    shorten(line, places, count, min, shorter);
    strcpy(line, shorter);
}

/* Sets the line and leaves in `line` the text that is seen. Returns its box. */
static PangoRectangle text_set_line(canvas *c, const canvas_type *type, const char *text, tidy_text line)
{
    tidy(text, line);
    set_font(c->layout, type);
    pango_layout_set_single_paragraph_mode(c->layout, TRUE);
    pango_layout_set_width(c->layout, -1);
    PangoRectangle box = box_of(c, line);
    if (type->widest > 0 && box.width > type->widest * PANGO_SCALE) {
        cut_middle(c, line, type->widest);
        box = box_of(c, line);
    }
    return box;
}

double canvas_text_width(canvas *c, const canvas_type *type, const char *text)
{
    tidy_text line;
    return text && *text ? (double)text_set_line(c, type, text, line).width / PANGO_SCALE : 0;
}

static void show_shapes(canvas *c, const canvas_type *type, PangoRectangle box, double x, double y)
{
    double baseline = (double)pango_layout_get_baseline(c->layout) / PANGO_SCALE;
    cairo_save(c->cr);
    cairo_translate(c->cr, x, y);
    cairo_rotate(c->cr, -type->turn * acos(-1.0) / 180);
    cairo_move_to(c->cr, -(box.x + type->anchor * box.width) / PANGO_SCALE, HALF_CAPITAL * type->size - baseline);
    canvas_color(c, type->color ? type->color : DRAW_INK);
    pango_cairo_show_layout(c->cr, c->layout);
    cairo_restore(c->cr);
}

void canvas_text(canvas *c, const canvas_type *type, const char *text, double x, double y)
{
    tidy_text line;
    if (!text || !*text)
        return;
    PangoRectangle box = text_set_line(c, type, text, line);
    if (!c->texts) {
        c->missing = c->missing ? c->missing : missing_letter(c->layout);
        show_shapes(c, type, box, x, y);
        return;
    }
    cairo_user_to_device(c->cr, &x, &y);
    bool right_to_left = pango_layout_get_direction(c->layout, 0) == PANGO_DIRECTION_RTL;
    svg_text_add(c->texts, type, line, right_to_left, x, y, HALF_CAPITAL * type->size);
}

/* ---- titles ------------------------------------------------------------------------------------------------------------ */

/* Breaks a text into at most TITLE_LINES lines of at most `width`, the last with all the rest; `begins` gets where they begin. */
static size_t break_lines(canvas *c, const canvas_type *type, const char *text, double width, size_t begins[TITLE_LINES])
{
    set_font(c->layout, type);
    pango_layout_set_single_paragraph_mode(c->layout, TRUE);
    pango_layout_set_width(c->layout, (int)(width * PANGO_SCALE));
    pango_layout_set_wrap(c->layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_text(c->layout, text, -1);
    size_t count = (size_t)pango_layout_get_line_count(c->layout);
    count = count < TITLE_LINES ? count : TITLE_LINES;
    for (size_t i = 0; i < count; i++)
        begins[i] = (size_t)pango_layout_get_line_readonly(c->layout, (int)i)->start_index;
    return count;
}

void canvas_title(canvas *c, const char *text, double x, double y, double width)
{
    tidy_text whole, line;
    size_t begins[TITLE_LINES];
    canvas_type type = {.size = DRAW_TITLE_SIZE, .anchor = 0.5, .widest = fmax(width, TITLE_MIN), .bold = true};
    if (!text || !*text)
        return;
    tidy(text, whole);
    size_t count = break_lines(c, &type, whole, type.widest, begins);
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 1 < count ? begins[i + 1] : strlen(whole);
        while (end > begins[i] + 1 && whole[end - 1] == ' ')
            end--;
        memcpy(line, whole + begins[i], end - begins[i]);
        line[end - begins[i]] = '\0';
        canvas_text(c, &type, line, x, y - (double)(count - 1 - i) * TITLE_LEADING * DRAW_TITLE_SIZE);
    }
}

void canvas_color(canvas *c, uint32_t rgb)
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
