/* tests/view/test_draw_text.c: what is written in pictures, read from the texts of an SVG: titles and legends fit and are
 * whole, what is cut keeps both ends, color bars say where they end, each axis has its own numbers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/figure/ticks.h"
#include "view/draw_case.h"

#include <pango/pangocairo.h>

/* ---- the texts of an SVG --------------------------------------------------------------------------------------------- */

enum { MOST_TEXTS = 400, MOST_BYTES = 1000 };

typedef struct svg_text {
    char text[MOST_BYTES], anchor[8], fill[8];
    double x, y, size;
    bool bold, turned;
} svg_text;

typedef struct svg {
    double width, height;
    svg_text texts[MOST_TEXTS];
    size_t count, elements, paths;
    bool inside;
    char *source;
} svg;

static void see_start(GMarkupParseContext *context, const char *element, const char **names, const char **values, void *to,
                      GError **error)
{
    (void)context, (void)error;
    svg *s = to;
    svg_text *t = &s->texts[s->count];
    s->elements++;
    s->inside = strcmp(element, "text") == 0;
    assert_true(strcmp(element, "use") != 0 && strcmp(element, "symbol") != 0); /* letters as shapes */
    for (size_t i = 0; names[i]; i++) {
        double number = g_ascii_strtod(values[i], NULL);
        if (strcmp(element, "svg") == 0 && strcmp(names[i], "width") == 0)
            s->width = number;
        if (strcmp(element, "svg") == 0 && strcmp(names[i], "height") == 0)
            s->height = number;
        if (!s->inside)
            continue;
        t->x = strcmp(names[i], "x") == 0 ? number : t->x;
        t->y = strcmp(names[i], "y") == 0 ? number : t->y;
        t->size = strcmp(names[i], "font-size") == 0 ? number : t->size;
        t->bold = t->bold || strcmp(names[i], "font-weight") == 0;
        t->turned = t->turned || strcmp(names[i], "transform") == 0;
        if (strcmp(names[i], "text-anchor") == 0)
            snprintf(t->anchor, sizeof t->anchor, "%s", values[i]);
        if (strcmp(names[i], "fill") == 0)
            snprintf(t->fill, sizeof t->fill, "%s", values[i]);
    }
}

static void see_text(GMarkupParseContext *context, const char *text, gsize size, void *to, GError **error)
{
    (void)context, (void)error;
    svg *s = to;
    if (s->inside)
        snprintf(s->texts[s->count].text, MOST_BYTES, "%.*s", (int)size, text);
}

static void see_end(GMarkupParseContext *context, const char *element, void *to, GError **error)
{
    (void)context, (void)error;
    svg *s = to;
    if (strcmp(element, "text") == 0)
        assert_true(++s->count < MOST_TEXTS);
    s->inside = false;
}

static svg *read_svg(const char *path)
{
    static svg s;
    size_t size;
    free(s.source);
    s = (svg){0};
    assert_int_equal(file_read(path, SIZE_MAX, &s.source, &size, NULL), RAPT_OK);
    GMarkupParser parser = {.start_element = see_start, .text = see_text, .end_element = see_end};
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &s, NULL);
    assert_true(g_markup_parse_context_parse(context, s.source, (gssize)size, NULL));
    assert_true(g_markup_parse_context_end_parse(context, NULL));
    g_markup_parse_context_free(context);
    return &s;
}

static const svg_text *find(const svg *s, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->texts[i].text, text) == 0)
            return &s->texts[i];
    return NULL;
}

static size_t times(const svg *s, const char *what)
{
    size_t count = 0;
    for (const char *at = s->source; (at = strstr(at, what)); at++)
        count++;
    return count;
}

/* How often lines ("stroke") or areas ("fill") have a color. */
static size_t painted(const svg *s, const char *what, const char *color)
{
    char attribute[80];
    snprintf(attribute, sizeof attribute, "%s=\"%s\"", what, color);
    return times(s, attribute);
}

static double width_of(const svg_text *t)
{
    PangoFontMap *fonts = pango_cairo_font_map_new();
    PangoContext *context = pango_font_map_create_context(fonts);
    PangoLayout *layout = pango_layout_new(context);
    PangoFontDescription *font = pango_font_description_from_string(t->bold ? "Sans Bold" : "Sans");
    PangoRectangle box;
    pango_font_description_set_absolute_size(font, t->size * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_text(layout, t->text, -1);
    pango_layout_get_extents(layout, NULL, &box);
    pango_font_description_free(font);
    g_object_unref(layout);
    g_object_unref(context);
    g_object_unref(fonts);
    return (double)box.width / PANGO_SCALE;
}

/* No text that stands upright reaches out of the picture. */
static void assert_inside(const svg *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const svg_text *t = &s->texts[i];
        if (t->turned)
            continue;
        double share = strcmp(t->anchor, "middle") == 0 ? 0.5 : strcmp(t->anchor, "end") == 0 ? 1 : 0, width = width_of(t);
        assert_true(t->x - share * width >= -1 && t->x + (1 - share) * width <= s->width + 1);
        assert_true(t->y - t->size >= -1 && t->y <= s->height + 1);
    }
}

static const svg *draw_map(const char *title, const char *name, draw_range range)
{
    static const char *const names[] = {"c", "d"};
    rapt_real values[] = {0.25f, 0.75f};
    draw_heat map = {.labels = {.x = "key"}, .rows = 1, .columns = 2, .values = values};
    map.row_names = map.column_names = names;
    if (name)
        map.row_names = &name;
    rapt_error err = {0};
    assert_int_equal(draw_heat_maps(&map, 1, 0, title, range, folder_in("map.svg"), &err), RAPT_OK);
    return read_svg(folder_in("map.svg"));
}

/* ---- texts ----------------------------------------------------------------------------------------------------------- */

static void an_svg_has_its_texts_as_text(void **state)
{
    (void)state;
    const svg *s = draw_map("Zahlen & <数>, \"a\"'b'", "نعم", from_0_to_1);
    assert_non_null(find(s, "Zahlen & <数>, \"a\"'b'"));
    assert_non_null(find(s, "نعم"));
    assert_non_null(find(s, "key"));
    assert_true(find(s, "key")->size == 12 && find(s, "Zahlen & <数>, \"a\"'b'")->bold);
    assert_non_null(strstr(s->source, "sans-serif"));
    assert_inside(s);
}

static void what_no_xml_may_hold_is_replaced(void **state)
{
    (void)state;
    const svg *s = draw_map("\x01\xEF\xBF\xBF\xff", NULL, from_0_to_1);
    assert_non_null(find(s, "␁��"));
}

/* The default title of one small map of a decoder's attention, and one of several lines; nothing of them is lost. */
static void titles_are_whole(void **state)
{
    (void)state;
    const char *const titles[] = {"decoder self-attention (causal), block 0, head 1",
                                  "A title that says much, of which it takes a few lines to be told: first what was measured, "
                                  "then how, and last by whom it was done"};
    for (size_t i = 0; i < 2; i++) {
        const svg *s = draw_map(titles[i], NULL, from_0_to_1);
        char all[MOST_BYTES] = "";
        size_t lines = 0;
        double last = 0;
        for (size_t k = 0; k < s->count; k++) {
            if (!s->texts[k].bold)
                continue;
            assert_true(s->texts[k].y >= last + (lines ? s->texts[k].size : 0));
            last = s->texts[k].y;
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", lines++ ? " " : "", s->texts[k].text);
        }
        assert_string_equal(all, titles[i]);
        assert_true(lines == 1 || i == 1);
        assert_inside(s);
    }
}

static void a_title_without_end_is_cut_in_its_last_line(void **state)
{
    (void)state;
    char title[4000];
    memset(title, 'm', sizeof title);
    strcpy(title + sizeof title - 5, "last");
    const svg *s = draw_map(title, NULL, from_0_to_1);
    size_t bold = 0, cut = 0;
    for (size_t i = 0; i < s->count; i++) {
        bold += s->texts[i].bold;
        cut += s->texts[i].bold && strstr(s->texts[i].text, "…") && g_str_has_suffix(s->texts[i].text, "mlast");
    }
    assert_int_equal(bold, 4);
    assert_int_equal(cut, 1);
    assert_inside(s);
}

/* Letters with accents and of several bytes stay whole at the cut. */
static void what_is_cut_keeps_both_ends(void **state)
{
    (void)state;
    const char *name = "Ängstliche-e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301-Übermaßstäbe";
    const svg *s = draw_map(NULL, name, from_0_to_1);
    const char *cut = NULL;
    for (size_t i = 0; i < s->count; i++)
        cut = strstr(s->texts[i].text, "…") ? s->texts[i].text : cut;
    assert_non_null(cut);
    assert_true(g_str_has_prefix(cut, "Ängst") && g_str_has_suffix(cut, "stäbe"));
    assert_null(strstr(cut, "…\u0301"));
    assert_inside(s);
}

/* ---- color bars ------------------------------------------------------------------------------------------------------- */

static void bars_say_where_they_end(void **state)
{
    (void)state;
    const struct {
        draw_range range;
        const char *low, *high, *between;
    } cases[] = {{{0, 1, true}, "0.0", "1.0", "0.5"},     {{1, 6, true}, "1", "6", "4"},
                 {{0.1, 0.93, true}, "0.1", "0.93", "0.5"}, {{-2.5, 1, true}, "−2.5", "1", "0"},
                 {{0, 3e-7, true}, "0", "3e-07", "1e-07"}, {{1e3, 1e3 + 1, true}, "1000.0", "1001.0", "1000.5"},
                 {{-700, 123456, true}, "−700", "123456", "50000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const svg *s = draw_map(NULL, NULL, cases[i].range);
        const svg_text *low = find(s, cases[i].low), *high = find(s, cases[i].high);
        assert_non_null(low);
        assert_non_null(high);
        assert_true(high->y < low->y - 60 && high->x == low->x);
        const svg_text *between = find(s, cases[i].between);
        assert_non_null(between);
        assert_true(between->y < low->y - 10 && between->y > high->y + 10);
    }
}

static void ends_have_the_digits_they_need(void **state)
{
    (void)state;
    const struct {
        double low, high, value;
        const char *text;
    } cases[] = {{0, 1, 0, "0"},         {0, 1, 1, "1"},          {0.123456, 0.93, 0.123456, "0.123"}, {-3, 3, -2.999999, "−3"},
                 {100, 900, 123.4, "123"}, {0, 5e-9, 5e-9, "5e-09"}, {1000.25, 1000.75, 1000.25, "1000.25"},
                 {0, 2e6, 1234567, "1.23e+06"}, {-1, 1, -0.0001, "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(range_label((draw_range){cases[i].low, cases[i].high, true}, cases[i].value).text, cases[i].text);
}

/* ---- curves ------------------------------------------------------------------------------------------------------------ */

#define BLUE "#0072b2"
#define VERMILION "#d55e00"

static const double steps[] = {1, 2, 3, 4}, rates[] = {0.001, 0.002, 0.0015, 0.0001}, norms[] = {40, 20, 30, 10};

static const svg *draw(const draw_curve *curves, size_t count, draw_labels labels)
{
    rapt_error err = {0};
    assert_int_equal(draw_curves(curves, count, labels, folder_in("curves.svg"), &err), RAPT_OK);
    return read_svg(folder_in("curves.svg"));
}

/* Each with its own numbers, in the color of its curve; on one axis the rates would be a line at 0. */
static void two_axes_have_their_own_numbers(void **state)
{
    (void)state;
    const draw_curve curves[] = {{"lr", 4, steps, rates, 1}, {"grad_norm", 4, steps, norms, 2, true}};
    const svg *s = draw(curves, 2, (draw_labels){"t", "step", "rate", "norm"});
    const svg_text *left = find(s, "0.0010"), *right = find(s, "20"), *across = find(s, "2"), *title = find(s, "norm");
    assert_true(left && right && across && title && find(s, "rate"));
    assert_true(right->x > left->x + 500);
    assert_string_equal(left->fill, BLUE);
    assert_string_equal(find(s, "rate")->fill, BLUE);
    assert_string_equal(right->fill, VERMILION);
    assert_string_equal(title->fill, VERMILION);
    assert_string_equal(across->fill, "");
    assert_true(find(s, "grad_norm")->x > right->x); /* the legend is beyond the axis */
    assert_inside(s);
}

static void axes_of_many_colors_have_none(void **state)
{
    (void)state;
    const draw_curve curves[] = {{"a", 4, steps, rates, 1}, {"b", 4, steps, norms, 1, true}, {"c", 4, steps, rates, 2}};
    const svg *s = draw(curves, 3, (draw_labels){NULL, "step", "rate", "norm"});
    assert_string_equal(find(s, "rate")->fill, "");
    assert_string_equal(find(s, "norm")->fill, "");
}

/* Two runs of two curves: two colors, of each a line and dashes; and the dots of few points. */
static void curves_of_a_group_share_a_color(void **state)
{
    (void)state;
    const draw_curve curves[] = {{"a", 4, steps, rates, 1}, {"b", 4, steps, norms, 1}, {"c", 4, steps, rates, 2},
                                 {"d", 4, steps, norms, 2}};
    const svg *s = draw(curves, 4, (draw_labels){0});
    assert_int_equal(painted(s, "stroke", BLUE), 2 * 2); /* including the legend's */
    assert_int_equal(painted(s, "stroke", VERMILION), 2 * 2);
    assert_int_equal(times(s, "stroke-dasharray"), 2 * 2);
    assert_int_equal(painted(s, "fill", BLUE), 2 * 4 + 2);
}

static void many_points_have_no_dots(void **state)
{
    (void)state;
    double x[41], y[41];
    for (int i = 0; i < 41; i++)
        x[i] = y[i] = i;
    draw_curve curve = {"a", 41, x, y};
    assert_int_equal(painted(draw(&curve, 1, (draw_labels){0}), "fill", BLUE), 0);
    curve.count = 40;
    assert_int_equal(painted(draw(&curve, 1, (draw_labels){0}), "fill", BLUE), 40 + 1);
}

/* Names that differ at their ends, and are too long for a legend. */
static void legends_tell_long_names_apart(void **state)
{
    (void)state;
    const char *names[] = {"runs/of/last/week/with/a/long/way/to/go/models/quickstart, training",
                           "runs/of/last/week/with/a/long/way/to/go/models/quickstart, validation",
                           "runs/of/last/week/with/a/long/way/to/go/models/own-sources, training", "a name that fits into it"};
    draw_curve curves[4];
    for (int i = 0; i < 4; i++)
        curves[i] = (draw_curve){names[i], 4, steps, rates};
    const svg *s = draw(curves, 4, (draw_labels){0});
    const char *seen[4] = {0};
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (g_str_has_prefix(s->texts[i].text, "runs/of/last"))
            seen[count++ & 3] = s->texts[i].text;
    assert_int_equal(count, 3);
    assert_true(g_str_has_suffix(seen[0], "quickstart, training") && g_str_has_suffix(seen[1], "start, validation"));
    assert_true(g_str_has_suffix(seen[2], "sources, training"));
    assert_non_null(find(s, names[3]));
    assert_inside(s);
}

int main(void)
{
    g_log_set_default_handler(no_complaint, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_svg_has_its_texts_as_text),
        cmocka_unit_test(what_no_xml_may_hold_is_replaced),
        cmocka_unit_test(titles_are_whole),
        cmocka_unit_test(a_title_without_end_is_cut_in_its_last_line),
        cmocka_unit_test(what_is_cut_keeps_both_ends),
        cmocka_unit_test(bars_say_where_they_end),
        cmocka_unit_test(ends_have_the_digits_they_need),
        cmocka_unit_test(two_axes_have_their_own_numbers),
        cmocka_unit_test(axes_of_many_colors_have_none),
        cmocka_unit_test(curves_of_a_group_share_a_color),
        cmocka_unit_test(many_points_have_no_dots),
        cmocka_unit_test(legends_tell_long_names_apart),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
