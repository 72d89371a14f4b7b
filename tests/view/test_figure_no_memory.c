/* tests/view/test_figure_no_memory.c: every allocation of a figure in memory is made to fail in turn: the failure is reported,
 * and nothing is left. Linked as tests/failing.h says. */
#include "failing.h"

#include "rapt/figure.h"

#include <math.h>
#include <stdlib.h>

static rapt_code draw_map(size_t rows, size_t columns)
{
    rapt_real values[90 * 90];
    rapt_heatmap_options o = rapt_heatmap_options_default();
    rapt_error err = {0};
    char *svg = NULL;
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = (rapt_real)(i % 7);
    o.title = "a title";
    const rapt_code code = rapt_heatmap_svg(values, rows, columns, &o, &svg, NULL, &err);
    assert_int_equal(err.code, code);
    free(svg);
    return code;
}

static rapt_code draw_curves_of(size_t count)
{
    const double x[] = {1, 2, 3}, y[] = {3, 1, 2};
    rapt_curve all[20];
    rapt_error err = {0};
    char *svg = NULL;
    for (size_t i = 0; i < count; i++)
        all[i] = (rapt_curve){"a curve", x, y, 3, i == 1};
    const rapt_code code = rapt_curves_svg(all, count, NULL, &svg, NULL, &err);
    assert_int_equal(err.code, code);
    free(svg);
    return code;
}

static void small_maps(void **state)
{
    (void)state;
    failing f = {.what = "a small map", .at_least = 5};
    do {
        failing_arm(&f);
    } while (failing_again(&f, draw_map(4, 5)));
}

static void maps_with_an_image(void **state)
{
    (void)state;
    failing f = {.what = "a map with an image", .at_least = 8};
    do {
        failing_arm(&f);
    } while (failing_again(&f, draw_map(90, 90)));
}

static void curves(void **state)
{
    (void)state;
    failing f = {.what = "curves", .at_least = 6};
    do {
        failing_arm(&f);
    } while (failing_again(&f, draw_curves_of(20)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_maps), cmocka_unit_test(maps_with_an_image),
                                       cmocka_unit_test(curves)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
