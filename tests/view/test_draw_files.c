/* tests/view/test_draw_files.c: drawing as it ends in files: the same bytes each time, SVG that a parser takes, and on an
 * error one line and nothing else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/draw_case.h"

#include <sys/stat.h>

static void the_same_figure_is_the_same_bytes(void **state)
{
    (void)state;
    const char *endings[] = {"png", "svg", "SVG"};
    char a[300], b[300], name[40];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "first.%s", endings[i]);
        snprintf(a, sizeof a, "%s", folder_in(name));
        snprintf(name, sizeof name, "second.%s", endings[i]);
        snprintf(b, sizeof b, "%s", folder_in(name));
        rapt_real values[90 * 90] = {0, 1};
        draw_heat map = {{"ab", "c", "d"}, 90, 90, values}; /* so large that it is an image */
        draw_one(&map, from_0_to_1, a);
        draw_named("other", folder_in("between.svg"));
        draw_one(&map, from_0_to_1, b);
        assert_true(same_files(a, b));
    }
}

/* GLib's parser takes what is well-formed; besides, every name that is used is defined. */
typedef struct svg_seen {
    size_t elements, images, texts;
    char ids[400][16];
    size_t count, used;
} svg_seen;

static void see_element(GMarkupParseContext *context, const char *element, const char **names, const char **values, void *to,
                        GError **error)
{
    (void)context, (void)error;
    svg_seen *s = to;
    s->elements++;
    s->images += strcmp(element, "image") == 0;
    s->texts += strcmp(element, "text") == 0;
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], "id") == 0)
            snprintf(s->ids[s->count++ % 400], sizeof s->ids[0], "%s", values[i]);
        if (strcmp(names[i], "xlink:href") != 0 || values[i][0] != '#')
            continue;
        bool defined = false;
        for (size_t k = 0; k < s->count; k++)
            defined = defined || strcmp(s->ids[k], values[i] + 1) == 0;
        assert_true(defined);
        s->used++;
    }
}

static svg_seen parse_svg(const char *path)
{
    char *text;
    size_t size;
    rapt_error err = {0};
    svg_seen seen = {0};
    assert_int_equal(file_read(path, SIZE_MAX, &text, &size, &err), RAPT_OK);
    GMarkupParseContext *context = g_markup_parse_context_new(&(GMarkupParser){.start_element = see_element}, 0, &seen, NULL);
    assert_true(g_markup_parse_context_parse(context, text, (gssize)size, NULL));
    assert_true(g_markup_parse_context_end_parse(context, NULL));
    g_markup_parse_context_free(context);
    free(text);
    return seen;
}

static void svg_is_well_formed(void **state)
{
    (void)state;
    rapt_real values[100 * 100] = {0, 1};
    draw_heat few = {{"<&\">", "c", "d"}, 3, 4, values}, many = {{NULL, "]]>", NULL}, 100, 100, values};
    draw_one(&few, from_0_to_1, folder_in("few.svg"));
    draw_one(&many, from_0_to_1, folder_in("many.svg"));
    svg_seen seen = parse_svg(folder_in("few.svg"));
    assert_true(seen.elements > 12 && seen.images == 0 && seen.texts > 4);
    seen = parse_svg(folder_in("many.svg"));
    assert_int_equal(seen.images, 1);
}

static void assert_fails(rapt_code wanted, const char *path, const char *part)
{
    rapt_real values[] = {0, 1};
    draw_heat map = {.rows = 1, .columns = 2, .values = values};
    rapt_error err = {0};
    int before = folder_entries(folder_path);
    assert_int_equal(draw_heat_maps(&map, 1, 0, NULL, from_0_to_1, path, &err), wanted);
    assert_int_equal(err.code, wanted);
    assert_non_null(strstr(err.message, part));
    assert_null(strchr(err.message, '\n'));
    assert_int_equal(folder_entries(folder_path), before);
}

static void a_path_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    char path[300];
    assert_fails(RAPT_ERR_VALUE, folder_in("a.jpg"), ".png or .svg");
    assert_fails(RAPT_ERR_VALUE, folder_in("png"), ".png or .svg");
    snprintf(path, sizeof path, "%s", folder_in("nowhere/a.png"));
    assert_fails(RAPT_ERR_NOT_FOUND, path, path);
    snprintf(path, sizeof path, "%s", folder_in("taken.svg"));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(RAPT_ERR_IO, path, path);
}

static rapt_code draw_at(size_t rows, draw_range range, rapt_error *err)
{
    rapt_real values[] = {0, 1};
    draw_heat map = {.rows = rows, .columns = 2, .values = values};
    return draw_heat_maps(&map, 1, 0, NULL, range, folder_in("never.png"), err);
}

static void impossible_figures_are_refused(void **state)
{
    (void)state;
    draw_range wrong[] = {{1, 1, true}, {2, 1, true}, {NAN, 1, true}, {0, INFINITY, true}, {-1e308, 1e308, true}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(draw_at(1, wrong[i], &(rapt_error){0}), RAPT_ERR_VALUE);
    assert_int_equal(draw_at(0, from_0_to_1, &(rapt_error){0}), RAPT_ERR_VALUE);
    assert_int_equal(draw_heat_maps(NULL, 0, 0, NULL, from_0_to_1, folder_in("never.png"), &(rapt_error){0}), RAPT_ERR_VALUE);
    assert_int_equal(draw_curves(NULL, 0, (draw_labels){0}, folder_in("never.png"), &(rapt_error){0}), RAPT_ERR_VALUE);
    assert_int_equal(draw_points(NULL, 0, (draw_labels){0}, folder_in("never.png"), &(rapt_error){0}), RAPT_ERR_VALUE);
    double far_apart[] = {-1e308, 1e308};
    draw_curve curve = {NULL, 2, far_apart, far_apart};
    assert_int_equal(draw_curves(&curve, 1, (draw_labels){0}, folder_in("never.png"), &(rapt_error){0}), RAPT_ERR_VALUE);
    assert_int_not_equal(access(folder_in("never.png"), F_OK), 0);
}

static void a_figure_without_end_is_refused(void **state)
{
    (void)state;
    enum { MAPS = 1000 };
    rapt_real value = 0;
    draw_heat maps[MAPS];
    for (int i = 0; i < MAPS; i++)
        maps[i] = (draw_heat){.rows = 1, .columns = 1, .values = &value};
    rapt_error err = {0};
    assert_int_equal(draw_heat_maps(maps, MAPS, MAPS, NULL, from_0_to_1, folder_in("never.png"), &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "pixels"));
    assert_int_not_equal(access(folder_in("never.png"), F_OK), 0);
}

int main(void)
{
    g_log_set_default_handler(no_complaint, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_figure_is_the_same_bytes),
        cmocka_unit_test(svg_is_well_formed),
        cmocka_unit_test(a_path_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(impossible_figures_are_refused),
        cmocka_unit_test(a_figure_without_end_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
