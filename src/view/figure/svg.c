/* view/figure/svg.c: the writer of SVG. Texts stay texts, to be searched, copied and read aloud; their widths are estimated
 * (letters.c). A first pass finds how large the figure is, a second one writes. */
#include "view/figure/svg.h"

#include "view/figure/letters.h"

#include <math.h>
#include <string.h>

/* Shares of a font's size: how far letters reach above their baseline, and below. */
#define ASCENT 0.93
#define DESCENT 0.24

#define DEGREE (3.14159265358979323846 / 180)
enum { SCALE_STOPS = 32 };

typedef struct svg_canvas {
    canvas base;
    bool measuring, paper;
    double left, top, right, bottom; /* of all that is drawn */
    buffer_writer path, out;
} svg_canvas;

/* ---- what is written ---------------------------------------------------------------------------------------------------- */

/* Two decimals are a hundredth of a pixel. The locale does not matter. */
static void put_number(buffer_writer *out, const char *name, double x)
{
    const long long hundredths = llround(fmax(-1e9, fmin(1e9, x)) * 100), size = llabs(hundredths), rest = size % 100;
    buffer_print(out, "%s%s%lld", name, hundredths < 0 ? "-" : "", size / 100);
    if (rest)
        buffer_print(out, rest % 10 ? ".%02lld" : ".%lld", rest % 10 ? rest : rest / 10);
}

static void put_escaped(buffer_writer *out, const char *text)
{
    static const char marks[] = "&<>'\"";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&quot;"};
    while (*text) {
        const size_t plain = strcspn(text, marks);
        buffer_put(out, text, plain);
        text += plain;
        if (*text)
            buffer_print(out, "%s", names[strchr(marks, *text++) - marks]);
    }
}

/* ` fill="#0072b2"`. On a page, what is dark on paper has the color of the page's text, paler where it is paler on paper. */
static void put_color(svg_canvas *s, const char *name, uint32_t color)
{
    const bool ink = color == DRAW_INK || color == 0, frame = color == DRAW_FRAME, faint = color == DRAW_FAINT;
    if (s->paper || !(ink || frame || faint))
        buffer_print(&s->out, " %s=\"#%06x\"", name, (unsigned)color);
    else
        buffer_print(&s->out, ink ? " %s=\"currentColor\"" : " %s=\"currentColor\" %s-opacity=\"0.%s\"", name, name,
                     frame ? "7" : "15");
}

static void put_place(svg_canvas *s, const char *x_name, double x, const char *y_name, double y)
{
    put_number(&s->out, x_name, x - s->left);
    put_number(&s->out, y_name, y - s->top);
}

/* Makes room for a rectangle. Returns whether it is to be written. */
static bool svg_takes(svg_canvas *s, double left, double top, double right, double bottom)
{
    if (!s->measuring)
        return true;
    s->left = fmin(s->left, left);
    s->top = fmin(s->top, top);
    s->right = fmax(s->right, right);
    s->bottom = fmax(s->bottom, bottom);
    return false;
}

/* ---- lines and areas ---------------------------------------------------------------------------------------------------- */

static void svg_point(svg_canvas *s, char how, double x, double y)
{
    const char name[2] = {how};
    if (!svg_takes(s, x - 1, y - 1, x + 1, y + 1)) /* as wide as lines are, about */
        return;
    put_number(&s->path, name, x - s->left);
    put_number(&s->path, " ", y - s->top);
}

static void svg_begin(canvas *c, double x, double y)
{
    svg_point((svg_canvas *)c, 'M', x, y);
}

static void svg_extend(canvas *c, double x, double y)
{
    svg_point((svg_canvas *)c, 'L', x, y);
}

/* Writes `<path d="..."`, and forgets the path. False: there is none. */
static bool svg_put_path(svg_canvas *s)
{
    s->out.failed = s->out.failed || s->path.failed;
    if (s->path.bytes.size == 0)
        return false;
    buffer_print(&s->out, "<path d=\"");
    buffer_put(&s->out, s->path.bytes.data, s->path.bytes.size);
    buffer_print(&s->out, "\"");
    s->path.bytes.size = 0;
    return true;
}

static void svg_stroke(canvas *c, const canvas_pen *pen)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_put_path(s))
        return;
    buffer_print(&s->out, " fill=\"none\"");
    put_color(s, "stroke", c->color);
    put_number(&s->out, " stroke-width=\"", pen->width);
    buffer_print(&s->out, "\"%s%s", pen->round ? " stroke-linejoin=\"round\"" : "",
                 pen->round && pen->dash_count == 0 ? " stroke-linecap=\"round\"" : "");
    for (int i = 0; i < pen->dash_count; i++)
        put_number(&s->out, i ? " " : " stroke-dasharray=\"", pen->dashes[i]);
    buffer_print(&s->out, "%s/>\n", pen->dash_count ? "\"" : "");
}

static void svg_area(canvas *c, double opacity)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_put_path(s))
        return;
    put_color(s, "fill", c->color);
    put_number(&s->out, " fill-opacity=\"", opacity);
    buffer_print(&s->out, "\"/>\n");
}

static void svg_dot(canvas *c, double x, double y, double radius)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_takes(s, x - radius, y - radius, x + radius, y + radius))
        return;
    put_place(s, "<circle cx=\"", x, "\" cy=\"", y);
    put_number(&s->out, "\" r=\"", radius);
    buffer_print(&s->out, "\"");
    put_color(s, "fill", c->color);
    buffer_print(&s->out, "/>\n");
}

/* ---- rectangles --------------------------------------------------------------------------------------------------------- */

/* Writes `<NAME x="..." y="..." width="..." height="..."`. False: nothing, while the figure is measured. */
static bool svg_put_box(canvas *c, const char *name, double x, double y, double width, double height)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_takes(s, x, y, x + width, y + height))
        return false;
    buffer_print(&s->out, "<%s", name);
    put_place(s, " x=\"", x, "\" y=\"", y);
    put_number(&s->out, "\" width=\"", width);
    put_number(&s->out, "\" height=\"", height);
    buffer_print(&s->out, "\"");
    return true;
}

static void svg_rectangle(canvas *c, double x, double y, double width, double height)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_put_box(c, "rect", x, y, width, height))
        return;
    put_color(s, "fill", c->color);
    buffer_print(&s->out, "/>\n");
}

static void svg_frame(canvas *c, double x, double y, double width, double height, double line)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!svg_put_box(c, "rect", x, y, width, height))
        return;
    buffer_print(&s->out, " fill=\"none\"");
    put_color(s, "stroke", c->color);
    put_number(&s->out, " stroke-width=\"", line);
    buffer_print(&s->out, "\"/>\n");
}

/* The image of a file has the pixels of the PNG, several to a cell: some programs that show an SVG blur an image that they
 * enlarge. Browsers do not: on a page each cell is a pixel. */
static void svg_cells(canvas *c, const canvas_cells *cells, double x, double y)
{
    svg_canvas *s = (svg_canvas *)c;
    const size_t wide = c->small ? 1 : (size_t)ceil(cells->width * CANVAS_SCALE);
    const size_t high = c->small ? 1 : (size_t)ceil(cells->height * CANVAS_SCALE);
    if (!svg_put_box(c, "image", x, y, (double)cells->across * cells->width, (double)cells->down * cells->height))
        return;
    buffer_print(&s->out, " preserveAspectRatio=\"none\" image-rendering=\"pixelated\" xlink:href=\"data:image/png;base64,");
    svg_image_put(&s->out, cells, wide, high);
    buffer_print(&s->out, "\"/>\n");
}

/* Colors between the stops differ from viridis by less than the eye, or eight bits, can tell. A page may have several figures,
 * whose scales have one name: they are all the same. */
static void svg_scale(canvas *c, uint32_t (*color)(double share), double x, double y, double width, double height)
{
    svg_canvas *s = (svg_canvas *)c;
    if (!s->measuring) {
        buffer_print(&s->out, "<linearGradient id=\"rapt-scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n");
        for (int i = 0; i <= SCALE_STOPS; i++) {
            put_number(&s->out, "<stop offset=\"", 100.0 * i / SCALE_STOPS);
            buffer_print(&s->out, "%%\" stop-color=\"#%06x\"/>\n", (unsigned)color((double)i / SCALE_STOPS));
        }
        buffer_print(&s->out, "</linearGradient>\n");
    }
    if (svg_put_box(c, "rect", x, y, width, height))
        buffer_print(&s->out, " fill=\"url(#rapt-scale)\"/>\n");
}

/* ---- texts -------------------------------------------------------------------------------------------------------------- */

static double svg_width(canvas *c, const canvas_type *type, const char *line)
{
    (void)c;
    return type->size * letters_width(line, type->bold);
}

/* Makes room for the line, turned about (x, y). */
static bool svg_takes_text(svg_canvas *s, const canvas_type *type, const char *line, double x, double y)
{
    const double width = s->measuring ? svg_width(&s->base, type, line) : 0, turn = type->turn * DEGREE;
    const double ends[2] = {-type->anchor * width, (1 - type->anchor) * width};
    const double edges[2] = {(HALF_CAPITAL - ASCENT) * type->size, (HALF_CAPITAL + DESCENT) * type->size};
    for (int i = 0; i < 4 && s->measuring; i++) {
        const double along = ends[i % 2], down = edges[i / 2];
        const double corner_x = x + along * cos(turn) + down * sin(turn), corner_y = y - along * sin(turn) + down * cos(turn);
        svg_takes(s, corner_x, corner_y, corner_x, corner_y);
    }
    return !s->measuring;
}

/* `direction` decides which end of a text is its start. */
static const char *anchor_of(double anchor, bool right_to_left)
{
    if (anchor == 0.5)
        return " text-anchor=\"middle\"";
    return (anchor == 0) == right_to_left ? " text-anchor=\"end\"" : "";
}

static void svg_text(canvas *c, const canvas_type *type, const char *line, double x, double y)
{
    svg_canvas *s = (svg_canvas *)c;
    const bool left = letters_run_left(line);
    const double down = HALF_CAPITAL * type->size;
    if (!svg_takes_text(s, type, line, x, y))
        return;
    if (type->turn != 0) {
        put_place(s, "<text transform=\"translate(", x, " ", y);
        put_number(&s->out, ") rotate(", -type->turn);
        put_number(&s->out, ")\" y=\"", down);
    } else
        put_place(s, "<text x=\"", x, "\" y=\"", y + down);
    put_number(&s->out, "\" font-size=\"", type->size);
    buffer_print(&s->out, "\"%s%s%s", anchor_of(type->anchor, left), left ? " direction=\"rtl\"" : "",
                 type->bold ? " font-weight=\"bold\"" : "");
    if (type->color)
        put_color(s, "fill", type->color);
    buffer_print(&s->out, ">");
    put_escaped(&s->out, line);
    buffer_print(&s->out, "</text>\n");
}

static const canvas_writer svg_writer = {svg_begin, svg_extend,    svg_stroke, svg_area,  svg_dot, svg_rectangle,
                                         svg_frame, svg_cells, svg_scale,  svg_width, svg_text};

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

/* Whole points, so that a line drawn at whole points falls on whole pixels. */
static void svg_add_margin(svg_canvas *s)
{
    s->left = floor(s->left) - CANVAS_MARGIN;
    s->top = floor(s->top) - CANVAS_MARGIN;
    s->right = ceil(s->right) + CANVAS_MARGIN;
    s->bottom = ceil(s->bottom) + CANVAS_MARGIN;
}

/* `svg:root` is the document's root: not an SVG that stands in the HTML of a page. */
static void svg_put_head(svg_canvas *s)
{
    const double width = s->right - s->left, height = s->bottom - s->top;
    if (s->paper)
        buffer_print(&s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buffer_print(&s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    put_number(&s->out, " width=\"", width);
    put_number(&s->out, "\" height=\"", height);
    put_number(&s->out, "\" viewBox=\"0 0 ", width);
    put_number(&s->out, " ", height);
    buffer_print(&s->out, "\" font-family=\"'DejaVu Sans', Verdana, sans-serif\"");
    put_color(s, "fill", DRAW_INK);
    buffer_print(&s->out, " xml:space=\"preserve\">\n");
    if (!s->paper) {
        buffer_print(&s->out, "<style>@media (prefers-color-scheme: dark) { svg:root { color-scheme: dark; color: #ddd } }"
                     "</style>\n");
        return;
    }
    put_number(&s->out, "<rect width=\"", width);
    put_number(&s->out, "\" height=\"", height);
    buffer_print(&s->out, "\" fill=\"#ffffff\"/>\n");
}

rapt_code svg_output(void *picture, canvas_draw_fn *draw, void *figure, rapt_error *err)
{
    svg_picture *p = picture;
    svg_canvas s = {.base = {&svg_writer, .small = !p->paper}, .measuring = true, .paper = p->paper};
    draw(&s.base, figure);
    svg_add_margin(&s);
    rapt_code code = canvas_check_size(s.right - s.left, s.bottom - s.top, err);
    if (code)
        return code;
    s.measuring = false;
    svg_put_head(&s);
    draw(&s.base, figure);
    buffer_print(&s.out, "</svg>\n");
    if (s.out.failed || s.path.failed)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a picture");
    buffer_free(&s.path.bytes);
    if (code)
        buffer_free(&s.out.bytes);
    p->out = s.out.bytes;
    return code;
}
