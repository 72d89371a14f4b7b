/* tests/kernels/check_exp.c: the exponential, over all kinds of floats. For check_kernels. check_rows.c has softmax, which uses
 * it.
 *
 * The reference is libm's double exp, off by less than 2^-52 relative: some 10^-9 of a float's ulp. */
#include "check.h"

#include <float.h>
#include <string.h>

#define BLOCK 4096
#define STRIDE 1021 /* each STRIDE-th float of all 2^32; --exhaustive takes them all */
#define ALLOWED 2.0 /* ulp */

enum { X, OUT, WANT };

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How many ulp of the exact result y is off; results below FLT_MIN are flushed to +0. */
static double ulps(float x, float y)
{
    double exact = exp((double)x);
    if (exact < FLT_MIN)
        return y == 0 && !signbit(y) ? 0 : INFINITY;
    if (exact > FLT_MAX)
        return isinf(y) && y > 0 ? 0 : INFINITY;
    int exponent;
    frexp(exact, &exponent);
    return fabs(y - exact) / ldexp(1, exponent - 24);
}

static void check_block(check *c, const float *x, float *y, size_t n, double *worst)
{
    c->k->exp(n, x, y);
    for (size_t i = 0; i < n; i++) {
        bool ok = isnan(x[i]) ? isnan(y[i]) : ulps(x[i], y[i]) <= ALLOWED;
        if (!isnan(x[i]) && ulps(x[i], y[i]) > *worst)
            *worst = ulps(x[i], y[i]);
        if (!ok)
            check_that(c, ok, "exp(%a) is %a", (double)x[i], (double)y[i]);
    }
    float *want = check_slot(WANT, n);
    c->scalar->exp(n, x, want);
    check_same(c, n, y, want, "exp");
}

/* n floats from `bits` on, `stride` apart. */
static void check_range(check *c, uint64_t bits, uint64_t count, uint32_t stride, double *worst)
{
    for (uint64_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? (size_t)(count - i) : BLOCK;
        float *x = check_slot(X, n), *y = check_slot(OUT, n);
        for (size_t j = 0; j < n; j++)
            x[j] = from_bits((uint32_t)(bits + (i + j) * stride));
        check_block(c, x, y, n, worst);
    }
}

/* The floats next to a bound where the result changes its kind. */
static void check_near(check *c, float bound, double *worst)
{
    uint32_t bits;
    memcpy(&bits, &bound, sizeof bits);
    check_range(c, bits - 20000, 40001, 1, worst);
}

void check_exp(check *c)
{
    uint32_t stride = c->exhaustive ? 1 : STRIDE;
    const float special[] = {-INFINITY, 0.0f, -0.0f, 1e-45f, -FLT_MAX}, expected[] = {0, 1, 1, 1, 0};
    float got[5];
    double worst = 0;
    c->k->exp(5, special, got);
    check_same(c, 5, got, expected, "special values");
    check_range(c, 0, ((uint64_t)1 << 32) / stride, stride, &worst);
    check_near(c, -87.33654f, &worst); /* the result becomes smaller than FLT_MIN */
    check_near(c, 88.72283f, &worst);  /* it becomes larger than FLT_MAX */
    check_near(c, 88.37627f, &worst);  /* the scale becomes 2^128 */
    check_near(c, 0.34657f, &worst);   /* half of ln 2: the scale changes */
    printf("%-7s %-20s at most %.3f ulp\n", c->k->name, "exp", worst);
    for (const size_t *n = check_sizes; *n; n++) {
        float *x = check_slot(X, *n), *y = check_slot(OUT, *n);
        check_random_wild(x, *n);
        check_block(c, x, y, *n, &worst);
        check_canary(c, y, "y");
        memcpy(check_slot(WANT, *n), y, *n * sizeof *y);
        c->k->exp(*n, x, x);
        check_same(c, *n, x, y, "in place");
    }
}

void bench_exp(const kernels *k)
{
    for (const size_t *n = check_bench_sizes; *n; n++) {
        float *x = check_room(X, *n), *y = check_room(OUT, *n);
        double seconds;
        char what[40];
        check_random(x, *n);
        CHECK_TIME(seconds, k->exp(*n, x, y));
        snprintf(what, sizeof what, "n = %zu", *n);
        check_report(k, "exp", what, (double)*n, seconds, false);
    }
}
