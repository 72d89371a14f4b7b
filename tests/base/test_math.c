/* tests/base/test_math.c: the project's own exp, log, pow, sin and cos against libm's in long double; their edges.
 * labels: arm-first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math.h"

#include "base/rng.h"

#include <math.h>

#define POINTS 200000

typedef double function(double);
typedef long double reference(long double);

/* The largest error at POINTS places in [low, high], relative to the larger of |f| and `floor_`. */
static double worst_error(function *f, reference *r, double low, double high, long double floor_)
{
    long double worst = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double x = low + (high - low) * rng_uniform(17, i);
        long double want = r((long double)x), scale = fabsl(want) > floor_ ? fabsl(want) : floor_;
        long double error = fabsl((long double)f(x) - want) / scale;
        if (!(error <= worst))
            worst = error;
    }
    print_message("  [%g, %g]: %.2Le\n", low, high, worst);
    return (double)worst;
}

static void exponential(void **state)
{
    (void)state;
    assert_true(worst_error(math_exp, expl, -708, 709, 0) < 4e-16);
    assert_true(worst_error(math_exp, expl, -1, 1, 0) < 4e-16);
    assert_true(worst_error(math_exp, expl, 709, 709.78, 0) < 1e-15);
    assert_true(math_exp(0) == 1);
    assert_true(math_exp(-INFINITY) == 0);
    assert_true(isinf(math_exp(INFINITY)) && isinf(math_exp(710)));
    assert_true(isnan(math_exp(NAN)));
    assert_true(math_exp(-746) == 0);
    assert_true(math_exp(-740) > 0); /* a denormal */
}

static void logarithm(void **state)
{
    (void)state;
    assert_true(worst_error(math_log, logl, 1e-300, 1e-290, 0) < 4e-16);
    assert_true(worst_error(math_log, logl, 1e-3, 0.9, 0) < 4e-16);
    assert_true(worst_error(math_log, logl, 1.1, 1e6, 0) < 4e-16);
    assert_true(worst_error(math_log, logl, 0.5, 2, 1) < 4e-16);      /* absolute near the zero */
    assert_true(worst_error(math_log, logl, 0.999, 1.001, 0) < 1e-15); /* and there is little lost relatively */
    assert_true(math_log(1) == 0);
    assert_true(isinf(math_log(0)) && math_log(0) < 0);
    assert_true(isnan(math_log(-1)) && isnan(math_log(NAN)));
    assert_true(isinf(math_log(INFINITY)));
    assert_true(fabs(math_log(0x1p-1074) + 1074 * 0.69314718055994530942) < 1e-12); /* the smallest denormal */
}

/* The error of the logarithm grows with the exponent: y log x units in the last place at most. */
static void power(void **state)
{
    long double worst = 0;
    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        double x = 1e-3 + 1e4 * rng_uniform(3, i), y = 4 * rng_uniform(4, i) - 2;
        long double want = powl((long double)x, (long double)y);
        long double error = fabsl((long double)math_pow(x, y) - want) / want;
        long double bound = (2 + fabsl((long double)y * logl((long double)x))) * 4e-16L;
        if (!(error <= bound))
            fail_msg("pow(%a, %a): relative error %.2Le", x, y, error);
        worst = error > worst ? error : worst;
    }
    print_message("  worst %.2Le\n", worst);
    assert_true(math_pow(7, 0) == 1);
    assert_true(fabs(math_pow(10000, 0.5) - 100) < 1e-12);
    assert_true(math_pow(1, 12345) == 1);
}

static void sine_and_cosine(void **state)
{
    (void)state;
    assert_true(worst_error(math_sin, sinl, -0.7, 0.7, 0) < 4e-16);
    assert_true(worst_error(math_cos, cosl, -0.7, 0.7, 0) < 4e-16);
    /* Absolute elsewhere; near multiples of pi/2 the reduction counts. */
    assert_true(worst_error(math_sin, sinl, -100, 100, 1) < 4e-16);
    assert_true(worst_error(math_cos, cosl, -100, 100, 1) < 4e-16);
    assert_true(worst_error(math_sin, sinl, -1e6, 1e6, 1) < 4e-16);
    assert_true(worst_error(math_cos, cosl, -1e6, 1e6, 1) < 4e-16);
    assert_true(worst_error(math_sin, sinl, 0, 5000, 0.1L) < 4e-15);
    assert_true(math_sin(0) == 0);
    assert_true(math_cos(0) == 1);
}

/* What the positions of a model are made of: sin and cos of i / 10000^(j/d). */
static void positions(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i += 7)
        for (int j = 0; j < 512; j += 62) {
            double angle = (double)i / math_pow(10000, j / 512.0);
            assert_true(fabsl((long double)math_sin(angle) - sinl((long double)angle)) < 4e-16L);
            assert_true(fabsl((long double)math_cos(angle) - cosl((long double)angle)) < 4e-16L);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential),
        cmocka_unit_test(logarithm),
        cmocka_unit_test(power),
        cmocka_unit_test(sine_and_cosine),
        cmocka_unit_test(positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
