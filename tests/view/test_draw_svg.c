/* tests/view/test_draw_svg.c: rapt_heatmap_svg and rapt_curves_svg: SVG that a parser takes, with a cell for each value in the
 * colors of viridis as it is published, texts as they were given, a bounded size, and the bytes of `rapt plot` where it is for
 * paper. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/draw_case.h"

#include "rapt/figure.h"

#include <locale.h>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
#define HEATMAP(...)                                                                               \
    ((rapt_heatmap_options){.size = sizeof(rapt_heatmap_options), .low = NAN, .high = NAN, .cells = 512, __VA_ARGS__})
#define CURVES(...) ((rapt_curves_options){.size = sizeof(rapt_curves_options), __VA_ARGS__})

/* ---- what an SVG has -------------------------------------------------------------------------------------------------- */

enum { MOST_CELLS = 5000, MOST_TEXTS = 200 };

typedef struct cell {
    double x, y;
    uint32_t color;
} cell;

typedef struct seen {
    double width, height;
    cell cells[MOST_CELLS];
    size_t cell_count, images, circles, text_count, currents, grays;
    char texts[MOST_TEXTS][700], image[100], lines[20][4000];
    size_t line_count;
    bool in_text;
} seen;

static const char *value_of(const char *name, const char **names, const char **values)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    return "";
}

static picture image; /* of the last SVG that had one */

static cairo_status_t image_read(void *from, unsigned char *to, unsigned size)
{
    const unsigned char **at = from;
    memcpy(to, *at, size);
    *at += size;
    return CAIRO_STATUS_SUCCESS;
}

/* A PNG is read as libpng has it. */
static void see_image(const char *href)
{
    static const char begin[] = "data:image/png;base64,";
    gsize size;
    assert_memory_equal(href, begin, sizeof begin - 1);
    guchar *png = g_base64_decode(href + sizeof begin - 1, &size);
    const unsigned char *at = png;
    cairo_surface_t *s = cairo_image_surface_create_from_png_stream(image_read, &at);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    assert_int_equal(at - png, size);
    assert_int_equal(cairo_surface_write_to_png(s, folder_in("image.png")), CAIRO_STATUS_SUCCESS);
    picture_free(&image);
    image = picture_load(folder_in("image.png"));
    cairo_surface_destroy(s);
    g_free(png);
}

static void see_start(GMarkupParseContext *context, const char *element, const char **names, const char **values, void *to,
                      GError **error)
{
    (void)context, (void)error;
    seen *s = to;
    const char *fill = value_of("fill", names, values), *stroke = value_of("stroke", names, values);
    const double x = g_ascii_strtod(value_of("x", names, values), NULL), y = g_ascii_strtod(value_of("y", names, values), NULL);
    s->in_text = strcmp(element, "text") == 0;
    s->circles += strcmp(element, "circle") == 0;
    s->currents += strcmp(fill, "currentColor") == 0 || strcmp(stroke, "currentColor") == 0;
    s->grays += strcmp(stroke, "#666666") == 0 || strcmp(stroke, "#e4e4e4") == 0 || strcmp(fill, "#222222") == 0;
    if (strcmp(element, "svg") == 0) {
        s->width = g_ascii_strtod(value_of("width", names, values), NULL);
        s->height = g_ascii_strtod(value_of("height", names, values), NULL);
    } else if (strcmp(element, "rect") == 0 && fill[0] == '#' && *value_of("x", names, values)) {
        assert_true(s->cell_count < MOST_CELLS);
        s->cells[s->cell_count++] = (cell){x, y, (uint32_t)strtoul(fill + 1, NULL, 16)};
    } else if (strcmp(element, "image") == 0) {
        s->images++;
        see_image(value_of("xlink:href", names, values));
    } else if (strcmp(element, "path") == 0 && strcmp(value_of("stroke-linejoin", names, values), "round") == 0) {
        assert_true(s->line_count < 20);
        snprintf(s->lines[s->line_count++], sizeof s->lines[0], "%s", value_of("d", names, values));
    }
}

static void see_text(GMarkupParseContext *context, const char *text, gsize size, void *to, GError **error)
{
    (void)context, (void)error;
    seen *s = to;
    if (s->in_text && size > 0) {
        assert_true(s->text_count < MOST_TEXTS);
        snprintf(s->texts[s->text_count++], sizeof s->texts[0], "%.*s", (int)size, text);
    }
}

static void see_end(GMarkupParseContext *context, const char *element, void *to, GError **error)
{
    (void)context, (void)element, (void)error;
    ((seen *)to)->in_text = false;
}

static const seen *see(const char *svg)
{
    static seen s;
    s = (seen){0};
    GMarkupParser parser = {.start_element = see_start, .text = see_text, .end_element = see_end};
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &s, NULL);
    assert_true(g_markup_parse_context_parse(context, svg, (gssize)strlen(svg), NULL));
    assert_true(g_markup_parse_context_end_parse(context, NULL));
    g_markup_parse_context_free(context);
    return &s;
}

static bool has_text(const seen *s, const char *text)
{
    bool has = false;
    for (size_t i = 0; i < s->text_count; i++)
        has = has || strcmp(s->texts[i], text) == 0;
    return has;
}

static char *heatmap(const rapt_real *values, size_t rows, size_t columns, rapt_heatmap_options o)
{
    rapt_error err = {0};
    char *svg = NULL;
    size_t size = 0;
    const rapt_code code = rapt_heatmap_svg(values, rows, columns, &o, &svg, &size, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    assert_int_equal(strlen(svg), size);
    return svg;
}

static const seen *see_heatmap(const rapt_real *values, size_t rows, size_t columns, rapt_heatmap_options o)
{
    char *svg = heatmap(values, rows, columns, o);
    const seen *s = see(svg);
    free(svg);
    return s;
}

static char *curves(const rapt_curve *all, size_t count, rapt_curves_options o)
{
    rapt_error err = {0};
    char *svg = NULL;
    const rapt_code code = rapt_curves_svg(all, count, &o, &svg, NULL, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    return svg;
}

static const seen *see_curves(const rapt_curve *all, size_t count, rapt_curves_options o)
{
    char *svg = curves(all, count, o);
    const seen *s = see(svg);
    free(svg);
    return s;
}

/* ---- heat maps -------------------------------------------------------------------------------------------------------- */

static void each_value_is_a_cell_of_its_color(void **state)
{
    (void)state;
    const rapt_real values[] = {0.75f, 0, 0.25f, 1, NAN, 0.5f, INFINITY, -INFINITY};
    const uint32_t wanted[] = {VIRIDIS_3_4, VIRIDIS_0, VIRIDIS_1_4, VIRIDIS_1, GRAY, VIRIDIS_1_2, VIRIDIS_1, VIRIDIS_0};
    const seen *s = see_heatmap(values, 4, 2, HEATMAP());
    assert_int_equal(s->cell_count, 8);
    const double side = s->cells[1].x - s->cells[0].x, below = s->cells[2].y - s->cells[0].y;
    assert_true(side > 10 && below > 10);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(s->cells[i].color, wanted[i]);
        assert_true(fabs(s->cells[i].x - s->cells[0].x - (double)(i % 2) * side) < 0.01);
        assert_true(fabs(s->cells[i].y - s->cells[0].y - (double)(i / 2) * below) < 0.01);
    }
    assert_true(s->width > 2 * side && s->height > 4 * below && s->images == 0);
}

static void ends_of_the_colors_may_be_given(void **state)
{
    (void)state;
    const rapt_real values[] = {2, 3};
    assert_int_equal(see_heatmap(values, 1, 2, HEATMAP(.low = 1, .high = 3))->cells[0].color, VIRIDIS_1_2);
    assert_int_equal(see_heatmap(values, 1, 2, HEATMAP(.low = 1))->cells[0].color, VIRIDIS_1_2);
    const seen *s = see_heatmap(values, 1, 2, HEATMAP(.high = 6, .bar = "weight"));
    assert_int_equal(s->cells[0].color, VIRIDIS_0);
    assert_int_equal(s->cells[1].color, VIRIDIS_1_4);
    assert_true(has_text(s, "2") && has_text(s, "6") && has_text(s, "weight"));
}

/* 64 x 64 cells of a file are rectangles, and 8 x 8 of a page; more are an image, two pixels to a point of a
 * file, one to a cell of a page. */
static void many_cells_are_an_image(void **state)
{
    (void)state;
    enum { ROWS = 65, COLUMNS = 80 };
    rapt_real values[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (rapt_real)(i / COLUMNS < 13 ? 0 : i % COLUMNS < 20 ? 0.25 : 0.75);
    values[ROWS * COLUMNS - 1] = NAN;
    assert_int_equal(see_heatmap(values, 64, 64, HEATMAP(.paper = true))->images, 0);
    assert_int_equal(see_heatmap(values, 8, 8, HEATMAP())->images, 0);
    assert_int_equal(see_heatmap(values, 9, 8, HEATMAP())->images, 1);
    see_heatmap(values, ROWS, COLUMNS, HEATMAP(.low = 0, .high = 1));
    assert_true(image.width == COLUMNS && image.height == ROWS);
    const seen *s = see_heatmap(values, ROWS, COLUMNS, HEATMAP(.low = 0, .high = 1, .paper = true));
    assert_int_equal(s->images, 1);
    assert_int_equal(s->cell_count, 0);
    const size_t side = image.width / COLUMNS;
    assert_true(side >= 2 && image.width == side * COLUMNS && image.height == side * ROWS);
    const size_t all = image.width * image.height;
    assert_int_equal(picture_spot(&image, VIRIDIS_0).count, all / ROWS * 13);
    assert_int_equal(picture_spot(&image, VIRIDIS_1_4).count, all / ROWS * 52 / 4);
    assert_int_equal(picture_spot(&image, GRAY).count, side * side);
    assert_int_equal(picture_spot(&image, GRAY).right, image.width - 1);
    assert_int_equal(picture_spot(&image, VIRIDIS_3_4).count, all / ROWS * 52 * 3 / 4 - side * side);
}

/* Random values, which no compression makes small; a peak and a hole stay visible. */
static void large_matrices_have_a_bounded_size(void **state)
{
    (void)state;
    enum { SIDE = 2100 };
    rapt_real *values = malloc((size_t)SIDE * SIDE * sizeof *values);
    uint32_t x = 1;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        x = x * 1664525 + 1013904223;
        values[i] = (rapt_real)(x >> 8) / (1 << 25);
    }
    values[SIDE * 1000 + 3] = 1;
    char *svg = heatmap(values, SIDE, SIDE, HEATMAP());
    assert_true(strlen(svg) < 2 << 20);
    const seen *s = see(svg);
    assert_true(s->images == 1 && s->width < 1000 && s->height < 1000);
    const spot peak = picture_spot(&image, VIRIDIS_1);
    assert_true(peak.count >= 1 && peak.right - peak.left < 4 && peak.x < 8);
    free(svg);
    assert_true(see_heatmap(values, SIDE * SIDE / 3, 3, HEATMAP())->height < 1000);
    free(values);
}

static void texts_are_escaped_and_whole(void **state)
{
    (void)state;
    static const char *const rows[] = {"<script>", "日本"}, *const columns[] = {"نعم", "\xff\x01", "a&b"};
    const rapt_real values[] = {1, 2, 3, 4, 5, 6};
    const seen *s = see_heatmap(values, 2, 3, HEATMAP(.title = "\"Zahlen\" & <数> 'x' ]]>", .x = "keys", .y = "queries",
                                                      .row_names = rows, .column_names = columns));
    const char *const wanted[] = {"\"Zahlen\" & <数> 'x' ]]>", "keys", "queries", "<script>", "日本", "نعم", "\uFFFD␁",
                                  "a&b"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(has_text(s, wanted[i]));
}

/* On a page texts and lines have its color of text; on paper they have their own, on white. */
static void pages_and_paper_have_their_colors(void **state)
{
    (void)state;
    const rapt_real values[] = {1, 2};
    char *page = heatmap(values, 1, 2, HEATMAP()), *paper = heatmap(values, 1, 2, HEATMAP(.paper = true));
    const seen *s = see(page);
    assert_true(s->currents > 4 && s->grays == 0);
    assert_null(strstr(page, "#ffffff"));
    assert_non_null(strstr(page, "prefers-color-scheme: dark"));
    assert_memory_equal(page, "<svg ", 5);
    s = see(paper);
    assert_true(s->currents == 0 && s->grays > 4);
    assert_non_null(strstr(paper, "fill=\"#ffffff\""));
    assert_memory_equal(paper, "<?xml", 5);
    free(page);
    free(paper);
}

static void paper_has_the_bytes_of_files(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    const rapt_real values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    draw_heat map = {{NULL, "x", "y"}, 3, 3, values, names, names};
    rapt_error err = {0};
    char *file, *svg = heatmap(values, 3, 3, HEATMAP(.title = "t", .x = "x", .y = "y", .row_names = names, .column_names = names,
                                                     .paper = true));
    size_t size;
    assert_int_equal(draw_heat_maps(&map, 1, 0, "t", (draw_range){0}, folder_in("map.svg"), &err), RAPT_OK);
    assert_int_equal(file_read(folder_in("map.svg"), SIZE_MAX, &file, &size, &err), RAPT_OK);
    assert_string_equal(svg, file);
    free(file);
    free(svg);
}

static void a_comma_of_the_locale_does_no_harm(void **state)
{
    (void)state;
    const rapt_real values[] = {0.25f, 0.75f};
    const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    bool set = false;
    char *before = heatmap(values, 1, 2, HEATMAP());
    for (size_t i = 0; i < 3 && !set; i++)
        set = setlocale(LC_ALL, locales[i]) != NULL;
    char *after = heatmap(values, 1, 2, HEATMAP());
    setlocale(LC_ALL, "C");
    if (!set)
        print_message("no locale with a comma is here: not tested\n");
    assert_string_equal(before, after);
    assert_true(has_text(see(after), "0.75"));
    free(before);
    free(after);
}

/* ---- curves ----------------------------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, char c)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == c;
    return count;
}

static void curves_have_their_points(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, loss[] = {5, 4, NAN, 3, 2}, rate[] = {1e-3, 2e-3, 1e-3, 5e-4, 1e-4};
    const rapt_curve all[] = {{"loss <1>", x, loss, 5, false}, {"rate", x, rate, 5, true}};
    const seen *s = see_curves(all, 2, CURVES(.title = "run", .x = "step", .y = "nats", .right = "learning rate"));
    assert_int_equal(s->line_count, 2 + 2); /* and two in the legend */
    assert_int_equal(count_of(s->lines[0], 'M'), 2);
    assert_int_equal(count_of(s->lines[0], 'L'), 2);
    assert_int_equal(count_of(s->lines[1], 'M'), 1);
    assert_int_equal(count_of(s->lines[1], 'L'), 4);
    assert_int_equal(s->circles, 4 + 5 + 2);
    const char *const wanted[] = {"run", "step", "nats", "learning rate", "loss <1>", "rate", "1", "5", "0.0020"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(has_text(s, wanted[i]));
}

/* Equal ratios are equal distances. */
static void axes_may_be_logarithmic(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4}, y[] = {1, 100, 10000, 0};
    const rapt_curve one = {NULL, x, y, 4, false};
    const seen *s = see_curves(&one, 1, CURVES(.log_y = true));
    double at_x[3], at_y[3];
    assert_int_equal(s->line_count, 1);
    assert_int_equal(sscanf(s->lines[0], "M%lf %lfL%lf %lfL%lf %lf", &at_x[0], &at_y[0], &at_x[1], &at_y[1], &at_x[2],
                            &at_y[2]), 6);
    assert_int_equal(count_of(s->lines[0], 'L'), 2);
    assert_true(at_y[0] > at_y[1] && fabs(at_y[0] - 2 * at_y[1] + at_y[2]) < 0.03);
    assert_true(has_text(s, "1") && has_text(s, "100") && has_text(s, "10000"));
}

/* Steps between such numbers are no numbers of full precision, or 0. */
static void denormal_ranges_are_drawn(void **state)
{
    (void)state;
    const rapt_real cells[] = {1, 2};
    const double tiny[] = {5e-324, 4.5e-323, 2e-323}, larger[] = {1e-322, 1.2e-322, 1.1e-322}, x[] = {1, 2, 3};
    see_heatmap(cells, 1, 2, HEATMAP(.low = 5e-324, .high = 4.5e-323));
    see_curves(&(rapt_curve){NULL, x, tiny, 3, false}, 1, CURVES());
    see_curves(&(rapt_curve){NULL, tiny, x, 3, false}, 1, CURVES());
    see_curves(&(rapt_curve){NULL, x, larger, 3, false}, 1, CURVES(.log_y = true));
}

/* ---- refusals --------------------------------------------------------------------------------------------------------- */

static void refuse_map(size_t rows, size_t columns, rapt_heatmap_options o, const char *message)
{
    const rapt_real values[] = {1, 2};
    rapt_error err = {0};
    char none, *svg = &none;
    assert_int_equal(rapt_heatmap_svg(values, rows, columns, &o, &svg, NULL, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_int_equal(rapt_heatmap_svg(values, rows, columns, &o, &svg, NULL, NULL), RAPT_ERR_VALUE);
    assert_ptr_equal(svg, &none);
}

static void refuse_curves(const rapt_curve *all, size_t count, rapt_curves_options o, const char *message)
{
    rapt_error err = {0};
    char none, *svg = &none;
    assert_int_equal(rapt_curves_svg(all, count, &o, &svg, NULL, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_int_equal(rapt_curves_svg(all, count, &o, &svg, NULL, NULL), RAPT_ERR_VALUE);
    assert_ptr_equal(svg, &none);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    static const rapt_curve many[101];
    const double x[] = {0, 1};
    const rapt_curve one = {NULL, x, x, 2, false}, two_long[] = {{NULL, x, x, 150000, false}, {NULL, x, x, 50001, false}};
    refuse_map(0, 2, HEATMAP(), "cannot draw a heat map of 0 x 2");
    refuse_map(1, 0, HEATMAP(), "cannot draw a heat map of 1 x 0");
    refuse_map(SIZE_MAX / 2, 3, HEATMAP(), "cannot draw a heat map of 9223372036854775807 x 3");
    refuse_map(1, 2, (rapt_heatmap_options){.size = sizeof(rapt_heatmap_options)},
               "cannot draw a heat map of 0 cells a side: it is 1 to 512");
    refuse_map(1, 2, HEATMAP(.low = 3, .high = 3), "cannot draw colors from 3 to 3: the first is not less");
    refuse_map(1, 2, HEATMAP(.low = -INFINITY), "cannot draw colors from -inf to 2: too far apart");
    refuse_map(1, 2, (rapt_heatmap_options){0}, "options without a size: make them with rapt_heatmap_options_default()");
    refuse_map(1, 2, HEATMAP(.reserved = {1}),
               "rapt_heatmap_options.reserved is not zero: this version of rapt has no members there");
    refuse_curves(NULL, 0, CURVES(), "cannot draw 0 curves: it is 1 to 100");
    refuse_curves(many, 101, CURVES(), "cannot draw 101 curves: it is 1 to 100");
    refuse_curves(two_long, 2, CURVES(), "cannot draw curves of more than 200000 points");
    refuse_curves(&one, 1, (rapt_curves_options){0}, "options without a size: make them with rapt_curves_options_default()");
    const rapt_curve later = {.x = x, .y = x, .count = 2, .reserved = {x}};
    refuse_curves(&later, 1, CURVES(), "rapt_curve.reserved is not zero: this version of rapt has no members there");
    refuse_curves(&one, 1, CURVES(.reserved = {1}),
                  "rapt_curves_options.reserved is not zero: this version of rapt has no members there");
}

static void nothing_finite_is_still_a_figure(void **state)
{
    (void)state;
    const rapt_real values[] = {NAN, NAN};
    const double none[] = {NAN};
    const rapt_curve all[] = {{"a", none, none, 1, false}, {"b", NULL, NULL, 0, false}};
    char *svg;
    assert_int_equal(see_heatmap(values, 1, 2, HEATMAP())->cells[1].color, GRAY);
    assert_true(has_text(see_curves(all, 2, CURVES()), "b"));
    assert_int_equal(rapt_heatmap_svg(values, 1, 2, NULL, &svg, NULL, NULL), RAPT_OK);
    free(svg);
    assert_int_equal(rapt_curves_svg(all, 2, NULL, &svg, NULL, NULL), RAPT_OK);
    free(svg);
}

int main(void)
{
    g_log_set_default_handler(no_complaint, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_a_cell_of_its_color), cmocka_unit_test(ends_of_the_colors_may_be_given),
        cmocka_unit_test(many_cells_are_an_image), cmocka_unit_test(large_matrices_have_a_bounded_size),
        cmocka_unit_test(texts_are_escaped_and_whole), cmocka_unit_test(pages_and_paper_have_their_colors),
        cmocka_unit_test(paper_has_the_bytes_of_files), cmocka_unit_test(a_comma_of_the_locale_does_no_harm),
        cmocka_unit_test(curves_have_their_points), cmocka_unit_test(axes_may_be_logarithmic),
        cmocka_unit_test(denormal_ranges_are_drawn), cmocka_unit_test(what_cannot_be_drawn_is_refused),
        cmocka_unit_test(nothing_finite_is_still_a_figure),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
