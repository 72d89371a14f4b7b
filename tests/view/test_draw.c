/* tests/view/test_draw.c: pictures against what is known of them without a picture to compare with: colors of cells as
 * viridis is published, where they lie, letters that are there, round numbers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/figure/ticks.h"
#include "view/draw_case.h"

#include <pango/pangocairo.h>

/* ---- heat maps --------------------------------------------------------------------------------------------------------- */

static void assert_cell(const picture *p, uint32_t color)
{
    spot s = picture_spot(p, color);
    assert_true(s.count >= CELL * CELL);
}

static void cells_have_the_colors_of_their_values(void **state)
{
    (void)state;
    rapt_real values[] = {0.75f, 0, 0.25f, 1};
    draw_heat map = {.rows = 2, .columns = 2, .values = values};
    picture p = picture_of(&map, from_0_to_1);
    uint32_t upper_left = VIRIDIS_3_4, upper_right = VIRIDIS_0, lower_left = VIRIDIS_1_4, lower_right = VIRIDIS_1;
    uint32_t all[] = {upper_left, upper_right, lower_left, lower_right};
    for (int i = 0; i < 4; i++)
        assert_cell(&p, all[i]);
    spot a = picture_spot(&p, upper_left), b = picture_spot(&p, upper_right), c = picture_spot(&p, lower_left),
         d = picture_spot(&p, lower_right);
    assert_true(b.x - a.x > CELL && d.x - c.x > CELL);
    assert_true(c.y - a.y > CELL && d.y - b.y > CELL);
    picture_free(&p);
}

static void the_range_is_of_the_data_where_none_is_given(void **state)
{
    (void)state;
    rapt_real values[] = {-30, 10, -10, 0};
    draw_heat map = {.rows = 1, .columns = 4, .values = values};
    picture p = picture_of(&map, (draw_range){0});
    assert_cell(&p, VIRIDIS_0);
    assert_cell(&p, VIRIDIS_1);
    assert_cell(&p, VIRIDIS_1_2);
    assert_cell(&p, VIRIDIS_3_4);
    picture_free(&p);
}

static void no_number_is_gray_and_infinities_are_the_ends(void **state)
{
    (void)state;
    rapt_real values[] = {NAN, INFINITY, -INFINITY, 7, -3, 2}; /* 2 is in the middle of the finite ones */
    draw_heat map = {.rows = 2, .columns = 3, .values = values};
    picture p = picture_of(&map, (draw_range){0});
    assert_cell(&p, GRAY);
    assert_true(picture_spot(&p, VIRIDIS_1).count >= 2 * CELL * CELL);
    assert_true(picture_spot(&p, VIRIDIS_0).count >= 2 * CELL * CELL);
    assert_cell(&p, VIRIDIS_1_2);
    picture_free(&p);
}

static void nothing_but_nan_can_be_drawn(void **state)
{
    (void)state;
    rapt_real values[] = {NAN, NAN};
    draw_heat map = {.rows = 2, .columns = 1, .values = values};
    picture p = picture_of(&map, (draw_range){0});
    assert_true(picture_spot(&p, GRAY).count >= 2 * CELL * CELL);
    picture_free(&p);
}

/* All cells have the middle value, so only the bar has other colors. It is a gradient, and the frame hides its ends. */
static void the_bar_goes_from_the_least_below_to_the_greatest_above(void **state)
{
    (void)state;
    rapt_real values[] = {0.5f, 0.5f, 0.5f, 0.5f};
    draw_heat map = {.rows = 2, .columns = 2, .values = values};
    picture p = picture_of(&map, from_0_to_1);
    spot least = picture_spot_near(&p, VIRIDIS_0, 8), most = picture_spot_near(&p, VIRIDIS_1, 8);
    spot cells = picture_spot(&p, VIRIDIS_1_2);
    assert_true(least.count > 0 && most.count > 0);
    assert_true(most.y < cells.y && cells.y < least.y);
    assert_true(fabs(most.x - least.x) < 2);
    assert_true(least.left > cells.left + 2 * CELL);
    assert_true(least.bottom - most.top > 150);
    picture_free(&p);
}

/* 600 x 600: more cells than points, an image. The two halves of each side differ. */
static void a_large_map_keeps_its_orientation(void **state)
{
    (void)state;
    enum { SIDE = 600 };
    rapt_real *values = malloc(SIDE * SIDE * sizeof *values);
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (i / SIDE < SIDE / 2 ? 0.25f : 0.75f) + (i % SIDE < SIDE / 2 ? -0.25f : 0.25f);
    draw_heat map = {.rows = SIDE, .columns = SIDE, .values = values};
    picture p = picture_of(&map, from_0_to_1);
    spot upper_left = picture_spot(&p, VIRIDIS_0), lower_right = picture_spot(&p, VIRIDIS_1);
    assert_true(upper_left.count > 200 * 200 && lower_right.count > 200 * 200);
    assert_true(upper_left.x < lower_right.x && upper_left.y < lower_right.y);
    free(values);
    picture_free(&p);
}

enum { MANY = 1920 * 3 }; /* three rows share a pixel */

/* Rows of 1/4 with a 1, a 0 and a NaN: a mean of three would be 1/2, 1/6 and 1/4. */
static void peaks_among_very_many_rows_stay_in_sight(void **state)
{
    (void)state;
    rapt_real *values = malloc(MANY * sizeof *values);
    for (int i = 0; i < MANY; i++)
        values[i] = 0.25f;
    values[MANY / 4] = 1;
    values[MANY / 2] = 0;
    values[MANY / 2 + 3] = NAN; /* those beside it have numbers, so nothing is gray */
    draw_heat map = {.rows = MANY, .columns = 1, .values = values};
    picture p = picture_of(&map, from_0_to_1);
    spot cells = picture_spot(&p, VIRIDIS_1_4);
    size_t wide = cells.right - cells.left, found[4] = {0};
    uint32_t wanted[] = {VIRIDIS_1, VIRIDIS_0, GRAY, VIRIDIS_1_2};
    size_t inside = (cells.left + wide / 4);
    for (size_t y = cells.top + 2; y + 2 < cells.bottom; y++)
        for (int k = 0; k < 4; k++)
            found[k] += (p.pixels[y * p.width + inside] & 0xffffff) == wanted[k];
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 1);
    assert_int_equal(found[2] + found[3], 0);
    free(values);
    picture_free(&p);
}

/* The left of two columns is 0, the right one 1: a strip so narrow loses none of them, however long it is. */
static void few_columns_of_very_many_rows_stay_apart(void **state)
{
    (void)state;
    rapt_real *values = malloc(2 * MANY * sizeof *values);
    for (int i = 0; i < 2 * MANY; i++)
        values[i] = (rapt_real)(i % 2);
    draw_heat map = {.rows = MANY, .columns = 2, .values = values};
    picture p = picture_of(&map, from_0_to_1);
    spot left = picture_spot(&p, VIRIDIS_0), right = picture_spot(&p, VIRIDIS_1);
    assert_true(left.count > 1900 * 40 && right.count > 1900 * 40 && left.x < right.x);
    free(values);
    picture_free(&p);
}

static void maps_of_a_grid_stand_in_reading_order_under_one_range(void **state)
{
    (void)state;
    rapt_real values[4][4];
    float of_map[] = {0, 0.25f, 0.75f, 1};
    draw_heat maps[4];
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < 4; i++)
            values[m][i] = of_map[m];
        maps[m] = (draw_heat){.rows = 2, .columns = 2, .values = values[m]};
    }
    rapt_error err = {0};
    const char *path = folder_in("grid.png");
    assert_int_equal(draw_heat_maps(maps, 4, 2, "four", (draw_range){0}, path, &err), RAPT_OK);
    picture p = picture_load(path);
    spot a = picture_spot(&p, VIRIDIS_0), b = picture_spot(&p, VIRIDIS_1_4), c = picture_spot(&p, VIRIDIS_3_4),
         d = picture_spot(&p, VIRIDIS_1);
    assert_true(a.count > 4 * CELL * CELL && b.count > 4 * CELL * CELL && c.count > 4 * CELL * CELL && d.count > 4 * CELL * CELL);
    assert_true(b.x - a.x > 2 * CELL && fabs(b.y - a.y) < 10 && c.y - a.y > 2 * CELL && d.x - c.x > 2 * CELL);
    picture_free(&p);
}

/* ---- texts ------------------------------------------------------------------------------------------------------------- */

/* Dark pixels left of the cells: names of rows. */
static size_t ink_left(const picture *p)
{
    size_t ink = 0, edge = picture_spot(p, VIRIDIS_1_2).left - 10;
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < edge; x++)
            ink += (p->pixels[y * p->width + x] & 0xff) < 0x80;
    return ink;
}

static size_t ink_of_name(const char *name)
{
    rapt_real value = 0.5;
    draw_heat map = {.rows = 1, .columns = 1, .values = &value, .row_names = &name};
    picture p = picture_of(&map, from_0_to_1);
    size_t ink = ink_left(&p);
    picture_free(&p);
    return ink;
}

/* Four maps, of `rows` x 7: the height of what is written below, with names as wide as these or with numbers. */
static size_t height_below(size_t rows, const char *name)
{
    const char *names[60];
    rapt_real values[60 * 7];
    for (size_t i = 0; i < 60; i++)
        names[i] = name;
    for (size_t i = 0; i < 60 * 7; i++)
        values[i] = 0.5f;
    draw_heat map = {.rows = rows, .columns = 7, .values = values, .row_names = name ? names : NULL};
    map.column_names = map.row_names;
    draw_heat maps[] = {map, map, map, map};
    rapt_error err = {0};
    assert_int_equal(draw_heat_maps(maps, 4, 4, NULL, from_0_to_1, folder_in("sides.png"), &err), RAPT_OK);
    picture p = picture_load(folder_in("sides.png"));
    size_t below = p.height - picture_spot(&p, VIRIDIS_1_2).bottom;
    picture_free(&p);
    return below;
}

/* 58 tokens have no room beside four maps; the seven of the other side have, and long names reach far down. */
static void each_side_has_names_where_there_is_room(void **state)
{
    (void)state;
    size_t numbers = height_below(58, NULL), names = height_below(58, "mmmmmmmmmm");
    assert_true(numbers > 0 && names > numbers + 60);
    assert_true(height_below(7, "mmmmmmmmmm") > numbers + 60);
}

static bool font_has(const char *text)
{
    PangoFontMap *fonts = pango_cairo_font_map_new();
    PangoContext *context = pango_font_map_create_context(fonts);
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_text(layout, text, -1);
    bool has = pango_layout_get_unknown_glyphs_count(layout) == 0;
    g_object_unref(layout);
    g_object_unref(context);
    g_object_unref(fonts);
    return has;
}

static void names_of_all_scripts_leave_ink(void **state)
{
    (void)state;
    assert_int_equal(ink_of_name(""), 0);
    const char *names[] = {"a", "ж", "سلام", "e\u0301", "\n", " ", "\xff"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(ink_of_name(names[i]) > 8);
}

static void chinese_leaves_ink(void **state)
{
    (void)state;
    if (!font_has("语言模型")) {
        print_message("no font has Chinese: not tested\n");
        skip();
    }
    assert_true(ink_of_name("语言模型") > 3 * ink_of_name("一"));
}

/* Letters that join: kept apart by a joiner that forbids it, they have other shapes and need more room. */
static void arabic_letters_join(void **state)
{
    (void)state;
    size_t joined = ink_of_name("ععع"), apart = ink_of_name("ع\u200cع\u200cع");
    assert_true(joined > 0 && apart > 0 && joined != apart);
}

static void a_combining_accent_sits_on_its_letter(void **state)
{
    (void)state;
    draw_named("\u00e9t\u00e9", folder_in("composed.png"));
    draw_named("e\u0301te\u0301", folder_in("combined.png"));
    draw_named("ete", folder_in("plain.png"));
    assert_true(same_files(folder_in("composed.png"), folder_in("combined.png")));
    assert_false(same_files(folder_in("composed.png"), folder_in("plain.png")));
}

/* A name as long as a page takes no more room than the widest that is shown. */
static void long_names_are_elided(void **state)
{
    (void)state;
    char page[5000], line[200];
    memset(page, 'm', sizeof page);
    memset(line, 'm', sizeof line);
    page[sizeof page - 1] = line[sizeof line - 1] = '\0';
    draw_named(page, folder_in("page.png"));
    draw_named(line, folder_in("line.png"));
    picture p = picture_load(folder_in("page.png"));
    assert_true(p.width < 900 && p.height < 900);
    assert_true(same_files(folder_in("page.png"), folder_in("line.png")));
    picture_free(&p);
}

/* ---- round numbers ----------------------------------------------------------------------------------------------------- */

static void assert_ticks(double low, double high, double wanted, const char *expected)
{
    char all[300] = "";
    ticks t = ticks_within(low, high, wanted);
    for (size_t i = 0; i < t.count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", ticks_label(&t, i).text);
    assert_string_equal(all, expected);
}

static void ticks_are_round(void **state)
{
    (void)state;
    assert_ticks(0, 1, 5, "0.0 0.2 0.4 0.6 0.8 1.0");
    assert_ticks(0, 0.3, 3, "0.0 0.1 0.2 0.3");
    assert_ticks(-1, 1, 4, "−1.0 −0.5 0.0 0.5 1.0");
    assert_ticks(3, 97, 5, "20 40 60 80");
    assert_ticks(0, 12000, 7, "0 2000 4000 6000 8000 10000 12000");
    assert_ticks(0, 4e6, 4, "0 1e+06 2e+06 3e+06 4e+06");
    assert_ticks(0, 3e-7, 3, "0 1e-07 2e-07 3e-07");
    assert_int_equal(ticks_whole_step(0.3), 1);
    assert_int_equal(ticks_whole_step(3), 5);
    assert_int_equal(ticks_whole_step(11), 20);
    assert_int_equal(ticks_whole_step(50), 50);
}

/* ---- curves and points ------------------------------------------------------------------------------------------------- */

#define BLUE 0x0072b2u
#define VERMILION 0xd55e00u

/* y = x and y = -x: the first color rises, the second falls. */
static void curves_rise_and_fall_as_their_numbers(void **state)
{
    (void)state;
    double x[] = {0, 1, 2, 3}, up[] = {-3, -1, 1, 3}, down[] = {3, 1, -1, -3};
    draw_curve curves[] = {{NULL, 2, x, up}, {NULL, 4, x, down}}; /* the first one ends in the middle */
    rapt_error err = {0};
    assert_int_equal(draw_curves(curves, 2, (draw_labels){"t", "x", "y"}, folder_in("curves.png"), &err), RAPT_OK);
    picture p = picture_load(folder_in("curves.png"));
    spot rising = picture_spot(&p, BLUE), falling = picture_spot(&p, VERMILION);
    assert_true(rising.count > 100 && falling.count > 100);
    assert_true(rising.y > falling.y && rising.x < falling.x);
    assert_true(rising.right - rising.left < (falling.right - falling.left) * 2 / 5);
    picture_free(&p);
}

/* How many faint lines stand behind the only point of a curve, those across and those up. */
static size_t lines_around(double x)
{
    double y = 1;
    char *text;
    size_t size, lines = 0;
    draw_curve curve = {NULL, 1, &x, &y};
    rapt_error err = {0};
    assert_int_equal(draw_curves(&curve, 1, (draw_labels){0}, folder_in("whole.svg"), &err), RAPT_OK);
    assert_int_equal(file_read(folder_in("whole.svg"), SIZE_MAX, &text, &size, &err), RAPT_OK);
    for (const char *at = text; (at = strstr(at, "stroke=\"#e4e4e4\"")) != NULL; at++)
        lines++;
    free(text);
    return lines;
}

/* An axis of one number goes half a unit to both sides: around 7 it has the mark 7, around 7.5 it has 7.0, 7.2, ..., 8.0. */
static void whole_numbers_have_whole_marks(void **state)
{
    (void)state;
    size_t whole = lines_around(7);
    assert_true(whole > 1);
    assert_int_equal(lines_around(7.5), whole + 5);
}

static void what_is_not_finite_is_left_out(void **state)
{
    (void)state;
    double x[] = {0, 1, 2, 3, INFINITY}, y[] = {1, NAN, 2, INFINITY, 1}, none[] = {NAN};
    draw_curve curves[] = {{"some", 5, x, y}, {"none", 1, none, none}, {"empty", 0, NULL, NULL}};
    draw_point points[] = {{"a", 0, 0}, {"b", NAN, 1}, {"c", 1, INFINITY}, {NULL, 2, 3}};
    rapt_error err = {0};
    assert_int_equal(draw_curves(curves, 3, (draw_labels){0}, folder_in("holes.png"), &err), RAPT_OK);
    assert_int_equal(draw_curves(curves + 2, 1, (draw_labels){0}, folder_in("empty.svg"), &err), RAPT_OK);
    assert_int_equal(draw_points(points, 4, (draw_labels){0}, folder_in("points.png"), &err), RAPT_OK);
    picture p = picture_load(folder_in("points.png"));
    spot dots = picture_spot(&p, BLUE);
    assert_true(dots.count > 2 * 60 && dots.count < 2 * 130); /* two dots of radius 2.8, at two pixels to one */
    picture_free(&p);
}

/* Dots lie where their numbers say: of three, the middle one is in the middle of the others. */
static void points_lie_in_proportion(void **state)
{
    (void)state;
    draw_point points[] = {{NULL, 0, 0}, {NULL, 0, 10}, {NULL, 40, 0}};
    rapt_error err = {0};
    assert_int_equal(draw_points(points, 3, (draw_labels){0}, folder_in("three.png"), &err), RAPT_OK);
    picture p = picture_load(folder_in("three.png"));
    spot dots = picture_spot(&p, BLUE);
    assert_true(fabs(dots.x - ((double)dots.left + (double)(dots.right - dots.left) / 3)) < 3);
    assert_true(fabs(dots.y - ((double)dots.bottom - (double)(dots.bottom - dots.top) / 3)) < 3);
    picture_free(&p);
}

int main(void)
{
    g_log_set_default_handler(no_complaint, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_have_the_colors_of_their_values),
        cmocka_unit_test(the_range_is_of_the_data_where_none_is_given),
        cmocka_unit_test(no_number_is_gray_and_infinities_are_the_ends),
        cmocka_unit_test(nothing_but_nan_can_be_drawn),
        cmocka_unit_test(the_bar_goes_from_the_least_below_to_the_greatest_above),
        cmocka_unit_test(a_large_map_keeps_its_orientation),
        cmocka_unit_test(peaks_among_very_many_rows_stay_in_sight),
        cmocka_unit_test(few_columns_of_very_many_rows_stay_apart),
        cmocka_unit_test(each_side_has_names_where_there_is_room),
        cmocka_unit_test(whole_numbers_have_whole_marks),
        cmocka_unit_test(maps_of_a_grid_stand_in_reading_order_under_one_range),
        cmocka_unit_test(names_of_all_scripts_leave_ink),
        cmocka_unit_test(chinese_leaves_ink),
        cmocka_unit_test(arabic_letters_join),
        cmocka_unit_test(a_combining_accent_sits_on_its_letter),
        cmocka_unit_test(long_names_are_elided),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(curves_rise_and_fall_as_their_numbers),
        cmocka_unit_test(what_is_not_finite_is_left_out),
        cmocka_unit_test(points_lie_in_proportion),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
