/* test_principal.c: principal components against points whose axes are known by construction, and against what a
 * rotation must keep. For src/view/principal.c. */
#include "view/principal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NEAR 1e-9

static void assert_all_near(const double *got, const double *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(got[i] - wanted[i]) < NEAR);
}

/* A cross in the plane: 3 to either side along x, 1 along y. Variances are 18/4 and 2/4 of 20/4. */
static void test_cross(void **state)
{
    (void)state;
    static const double x[] = {3, 0, -3, 0, 0, 1, 0, -1};
    double c[8], shares[2];
    assert_int_equal(principal_components(x, 4, 2, 2, c, shares, NULL), RAPT_OK);
    assert_all_near(c, x, 8);
    assert_all_near(shares, (const double[]){0.9, 0.1}, 2);
}

/* The same cross elsewhere in space: origin (10, -4, 7), its long arm along (1, 2, 2)/3, its short one along
 * (2, 1, -2)/3. The first point lies on the other side now, but still comes out as positive. */
static void test_cross_in_space(void **state)
{
    (void)state;
    static const double along[] = {-3, 3, 0, 0}, across[] = {0, 0, -1, 1};
    static const double wanted[] = {3, 0, -3, 0, 0, 1, 0, -1};
    double x[12], c[8], shares[2];
    for (size_t i = 0; i < 4; i++) {
        x[i * 3] = 10 + along[i] / 3 + across[i] * 2 / 3;
        x[i * 3 + 1] = -4 + along[i] * 2 / 3 + across[i] / 3;
        x[i * 3 + 2] = 7 + along[i] * 2 / 3 - across[i] * 2 / 3;
    }
    assert_int_equal(principal_components(x, 4, 3, 2, c, shares, NULL), RAPT_OK);
    assert_all_near(c, wanted, 8);
    assert_all_near(shares, (const double[]){0.9, 0.1}, 2);
}

/* Two points lie on one line: half their distance to either side, and nothing across. */
static void test_two_points(void **state)
{
    (void)state;
    static const double x[] = {1, 1, 1, 1, 1, 3, 5, 1, 1, 1}; /* distance sqrt(4 + 16) */
    double c[4], shares[2];
    assert_int_equal(principal_components(x, 2, 5, 2, c, shares, NULL), RAPT_OK);
    assert_all_near(c, (const double[]){sqrt(5), 0, -sqrt(5), 0}, 4);
    assert_all_near(shares, (const double[]){1, 0}, 2);
}

static void test_no_variance(void **state)
{
    (void)state;
    static const double x[] = {0.1, 0.7, 0.1, 0.7, 0.1, 0.7};
    double c[6], shares[2];
    assert_int_equal(principal_components(x, 3, 2, 2, c, shares, NULL), RAPT_OK);
    assert_all_near(c, (const double[6]){0}, 6);
    assert_all_near(shares, (const double[2]){0}, 2);
    assert_int_equal(principal_components(x, 1, 6, 2, c, shares, NULL), RAPT_OK);
    assert_all_near(c, (const double[2]){0}, 2);
}

static double distance(const double *x, size_t features, size_t i, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < features; k++)
        sum += (x[i * features + k] - x[j * features + k]) * (x[i * features + k] - x[j * features + k]);
    return sqrt(sum);
}

/* As many axes as points: a rotation, which keeps all distances; shares fall, and are all there is. */
static void test_distances(void **state)
{
    (void)state;
    enum { ROWS = 9, FEATURES = 30 };
    double x[ROWS * FEATURES], c[ROWS * ROWS], again[ROWS * ROWS], shares[ROWS], sum = 0;
    uint32_t random = 1;
    for (size_t i = 0; i < ROWS * FEATURES; i++) {
        random = random * 1664525 + 1013904223;
        x[i] = (double)(random >> 8) / (1 << 24);
    }
    assert_int_equal(principal_components(x, ROWS, FEATURES, ROWS, c, shares, NULL), RAPT_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            assert_true(fabs(distance(c, ROWS, i, j) - distance(x, FEATURES, i, j)) < NEAR);
    for (size_t i = 0; i < ROWS; sum += shares[i++])
        assert_true(i == 0 || shares[i] <= shares[i - 1]);
    assert_true(fabs(sum - 1) < NEAR);
    assert_true(c[0] > 0 && c[1] > 0);
    assert_int_equal(principal_components(x, ROWS, FEATURES, ROWS, again, shares, NULL), RAPT_OK);
    assert_memory_equal(c, again, sizeof c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cross),       cmocka_unit_test(test_cross_in_space), cmocka_unit_test(test_two_points),
        cmocka_unit_test(test_no_variance), cmocka_unit_test(test_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
