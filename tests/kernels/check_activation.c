/* tests/kernels/check_activation.c: GELU, its tanh form, SiLU with their derivatives, and SwiGLU. For check_kernels.
 * check_elements.c has ReLU, which is exact.
 *
 * The references are the formulas of kernels.h in double, written so that nothing cancels: x/2 erfc(-x/sqrt(2)) for
 * GELU, x / (1 + exp(-z)) for the others. With u = -|x|, S the step (Phi, or the logistic function of z) and
 * D(u) = S(u) + u S'(u), the bounds are
 *     value:       e_S |u| S(u), and a rounding of the sum max(0, x) + u S(u)
 *     derivative:  e_S (S(u) + |u| S'(u)), and a rounding of 1 - D(u) for x > 0
 * where e_S is the relative error of S: some roundings, and the roundings of z magnified by z. An exp below FLT_MIN counts as 0:
 * then FLT_MIN times its factor comes on top. And e_S is 8 u, for the tanh form (8 + 5 |z|) u. */
#include "check.h"

#include <float.h>
#include <string.h>

#define BLOCK 4096
#define STRIDE 16381 /* each STRIDE-th float of all 2^32; --exhaustive takes them all */
#define SWEEP 200000 /* numbers between -range and range, where the interesting ones are */

enum { X, OUT, SLOPE, WANT, WANT_SLOPE, UP, DY, DGATE, DUP };

static const double u = CHECK_U;

/* What is exact at x: the step S and u S' on the falling side, and how much S may be off. */
typedef struct exact { double s, us, error, flushed, slope_flushed; } exact;

typedef void activation(size_t n, const float *x, float *y, float *slope);

typedef struct subject {
    activation *run, *scalar;
    exact (*at)(double x);
    float range;
} subject;

static exact gelu_at(double x)
{
    double t = fabs(x), s = 0.5 * erfc(t / sqrt(2)), density = exp(-0.5 * t * t) / sqrt(8 * atan(1));
    return (exact){s, t * density, 8 * u, FLT_MIN, 6 * FLT_MIN};
}

/* The logistic function of z, whose derivative by x is slope. */
static exact logistic_at(double t, double z, double slope, double error)
{
    double s = 1 / (1 + exp(z)), small = fmin(t, 128) * FLT_MIN;
    return (exact){s, s > 0 ? t * s * (1 - s) * slope : 0, error, small, small * fmin(slope, 100) + FLT_MIN};
}

static exact silu_at(double x) { return logistic_at(fabs(x), fabs(x), 1, 8 * u); }

static exact gelu_tanh_at(double x)
{
    double t = fabs(x), c = sqrt(8 / (4 * atan(1))), z = c * (t + 0.044715 * t * t * t);
    return logistic_at(t, z, c * (1 + 3 * 0.044715 * t * t), (8 + 5 * fmin(z, 90)) * u);
}

typedef struct worst { double value, slope; } worst;

/* Compares with the reference; keeps the worst errors of the falling side in parts of what is allowed. */
static void check_bounds(check *c, const subject *f, float x, float y, float slope, worst *w)
{
    if (isnan(x)) {
        check_that(c, isnan(y) && isnan(slope), "of NaN are %g and %g", (double)y, (double)slope);
        return;
    }
    if (isinf(x)) {
        check_that(c, y == fmaxf(0, x) && slope == (x > 0), "of %g are %g and %g", (double)x, (double)y, (double)slope);
        return;
    }
    exact e = f->at(x);
    double t = fabs((double)x), value = fmax(0, x) - t * e.s, d = e.s - e.us, rise = x > 0;
    double derivative = x > 0 ? 1 - d : d;
    double value_bound = e.error * t * e.s + u * fabs(value) + e.flushed + FLT_TRUE_MIN;
    double slope_bound = e.error * (e.s + e.us) + u * rise * fabs(derivative) + e.slope_flushed;
    if (x < -1e-37f && e.s > 2 * FLT_MIN) {
        w->value = fmax(w->value, fabs(y - value) / (e.error * t * e.s));
        w->slope = fmax(w->slope, fabs(slope - derivative) / (e.error * (e.s + e.us)));
    }
    if (!(fabs(y - value) <= value_bound) || !(fabs(slope - derivative) <= slope_bound))
        check_that(c, false, "of %a are %a and %a, not %a and %a", (double)x, (double)y, (double)slope, value, derivative);
}

static void check_block(check *c, const subject *f, size_t n, const float *x, worst *w)
{
    float *y = check_slot(OUT, n), *slope = check_slot(SLOPE, n);
    float *want = check_slot(WANT, n), *want_slope = check_slot(WANT_SLOPE, n);
    f->run(n, x, y, slope);
    for (size_t i = 0; i < n; i++)
        check_bounds(c, f, x[i], y[i], slope[i], w);
    f->scalar(n, x, want, want_slope);
    check_same(c, n, y, want, "value");
    check_same(c, n, slope, want_slope, "slope");
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_range(check *c, const subject *f, worst *w)
{
    uint32_t stride = c->exhaustive ? 1 : STRIDE;
    uint64_t count = ((uint64_t)1 << 32) / stride;
    for (uint64_t i = 0; i < count; i += BLOCK) {
        float *x = check_slot(X, BLOCK);
        for (size_t j = 0; j < BLOCK; j++)
            x[j] = from_bits((uint32_t)((i + j) * stride));
        check_block(c, f, BLOCK, x, w);
    }
    for (size_t i = 0; i < SWEEP; i += BLOCK) {
        float *x = check_slot(X, BLOCK);
        for (size_t j = 0; j < BLOCK; j++)
            x[j] = f->range * (float)(2 * ((double)(i + j) + 0.3) / SWEEP - 1);
        check_block(c, f, BLOCK, x, w);
    }
}

/* Any length, with and without the slope, over its own input. */
static void check_rows(check *c, const subject *f, size_t n, worst *w)
{
    float *x = check_slot(X, n), *copy = check_slot(UP, n), *again = check_slot(DY, n);
    check_random_wild(x, n);
    memcpy(copy, x, n * sizeof *x);
    check_block(c, f, n, x, w);
    float *y = check_slot(OUT, n), *slope = check_slot(SLOPE, n);
    f->run(n, x, y, slope);
    check_canary(c, y, "y");
    check_canary(c, slope, "slope");
    f->run(n, x, again, NULL);
    check_same(c, n, again, y, "without the slope");
    f->run(n, x, again, x);
    check_same(c, n, again, y, "slope over x");
    check_same(c, n, x, slope, "slope over x");
    f->run(n, copy, copy, again);
    check_same(c, n, copy, y, "y over x");
    check_same(c, n, again, slope, "y over x");
}

static void check_activation(check *c, subject f)
{
    worst w = {0, 0};
    const float zeros[2] = {0.0f, -0.0f};
    float y[2];
    f.run(2, zeros, y, NULL);
    check_same(c, 2, y, zeros, "of zeros");
    check_range(c, &f, &w);
    for (const size_t *n = check_sizes; *n; n++)
        check_rows(c, &f, *n, &w);
    printf("%-7s %-20s at most %.0f %% of the allowed error, its derivative %.0f %%\n", c->k->name, c->kernel, 100 * w.value,
           100 * w.slope);
}

void check_gelu(check *c) { check_activation(c, (subject){c->k->gelu, c->scalar->gelu, gelu_at, 15}); }
void check_gelu_tanh(check *c) { check_activation(c, (subject){c->k->gelu_tanh, c->scalar->gelu_tanh, gelu_tanh_at, 11}); }
void check_silu(check *c) { check_activation(c, (subject){c->k->silu, c->scalar->silu, silu_at, 92}); }

/* ---- soft caps ----------------------------------------------------------------------------------------- */
/* Against libm's tanh: the product scale x / cap has a rounding or two, tanh 3 u, the product with the cap one. */
static void run_softcap(check *c, size_t n)
{
    const float cap = 30, scale = 0.37f;
    float *x = check_slot(X, n), *y = check_slot(OUT, n), *slope = check_slot(SLOPE, n);
    float *want = check_slot(WANT, n), *want_slope = check_slot(WANT_SLOPE, n);
    check_random_wild(x, n);
    for (size_t i = 0; i < n; i += 2)
        x[i] = (float)((double)i / (double)n * 200 - 100);
    c->k->softcap(n, scale, cap, x, y, slope);
    c->scalar->softcap(n, scale, cap, x, want, want_slope);
    check_same(c, n, y, want, "y");
    check_same(c, n, slope, want_slope, "slope");
    for (size_t i = 0; i < n; i++) {
        double t = tanh((double)scale * x[i] / cap), error = fabs((double)y[i] - cap * t);
        bool fine = isnan(x[i]) ? isnan(y[i]) : error <= 8 * u * cap * fabs(t) + FLT_MIN;
        check_that(c, fine, "of %a is %a, not %a", (double)x[i], (double)y[i], cap * t);
        fine = isnan(x[i]) ? isnan(slope[i]) : fabs((double)slope[i] - scale * (1 - t * t)) <= 16 * u * scale;
        check_that(c, fine, "of %a the derivative is %a, not %a", (double)x[i], (double)slope[i], scale * (1 - t * t));
    }
    c->k->softcap(n, scale, cap, x, x, NULL);
    check_same(c, n, x, want, "y over x");
    check_canary(c, y, "y");
}

void check_softcap(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        run_softcap(c, *n);
}

/* ---- SwiGLU -------------------------------------------------------------------------------------------- */
/* By the letter of kernels.h, on what silu of the same level gives. */
static void run_swiglu(check *c, size_t n)
{
    float *gate = check_slot(X, n), *up = check_slot(UP, n), *y = check_slot(OUT, n), *want = check_slot(WANT, n);
    check_random_wild(gate, n);
    check_random_wild(up, n);
    c->scalar->silu(n, gate, want, NULL);
    for (size_t i = 0; i < n; i++)
        want[i] *= up[i];
    c->k->swiglu(n, gate, up, y);
    check_same(c, n, y, want, "y");
    check_canary(c, y, "y");
    memcpy(y, gate, n * sizeof *y);
    c->k->swiglu(n, y, up, y);
    check_same(c, n, y, want, "over gate");
    c->k->swiglu(n, gate, up, up);
    check_same(c, n, up, want, "over up");
}

static void run_swiglu_backward(check *c, size_t n)
{
    float *gate = check_slot(X, n), *up = check_slot(UP, n), *dy = check_slot(DY, n);
    float *dgate = check_slot(DGATE, n), *dup = check_slot(DUP, n);
    float *value = check_slot(WANT, n), *slope = check_slot(WANT_SLOPE, n);
    check_random_wild(gate, n);
    check_random_wild(up, n);
    check_random(dy, n);
    c->scalar->silu(n, gate, value, slope);
    for (size_t i = 0; i < n; i++) {
        slope[i] *= dy[i] * up[i];
        value[i] *= dy[i];
    }
    c->k->swiglu_backward(n, gate, up, dy, dgate, dup);
    check_same(c, n, dgate, slope, "dgate");
    check_same(c, n, dup, value, "dup");
    check_canary(c, dgate, "dgate");
    check_canary(c, dup, "dup");
    c->k->swiglu_backward(n, gate, up, dy, gate, dy);
    check_same(c, n, gate, slope, "dgate over gate");
    check_same(c, n, dy, value, "dup over dy");
}

void check_swiglu(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        run_swiglu(c, *n);
}

void check_swiglu_backward(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        run_swiglu_backward(c, *n);
}

/* ---- speed --------------------------------------------------------------------------------------------- */
#define BENCH(name, label, call)                                                              \
    static void time_##name(const kernels *k)                                                 \
    {                                                                                         \
        for (const size_t *size = check_bench_sizes; *size; size++) {                         \
            size_t n = *size;                                                                 \
            float *x = check_room(X, n), *y = check_room(OUT, n), *z = check_room(SLOPE, n);  \
            float *up = check_room(UP, n), *dy = check_room(DY, n);                           \
            double seconds;                                                                   \
            char what[40];                                                                    \
            check_random(x, n);                                                               \
            check_random(up, n);                                                              \
            check_random(dy, n);                                                              \
            (void)z, (void)up, (void)dy;                                                      \
            CHECK_TIME(seconds, call);                                                        \
            snprintf(what, sizeof what, "n = %zu%s", n, label);                               \
            check_report(k, #name, what, (double)n, seconds, false);                          \
        }                                                                                     \
    }
#define BENCH_BOTH(name)                                               \
    BENCH(name, "", k->name(n, x, y, NULL))                            \
    BENCH(name##_slope, ", slope too", k->name(n, x, y, z))            \
    void bench_##name(const kernels *k)                                \
    {                                                                  \
        time_##name(k);                                                \
        time_##name##_slope(k);                                        \
    }
BENCH_BOTH(gelu)
BENCH_BOTH(gelu_tanh)
BENCH_BOTH(silu)
BENCH(softcap, "", k->softcap(n, 1, 30, x, y, NULL))
BENCH(swiglu, "", k->swiglu(n, x, up, y))
BENCH(swiglu_backward, "", k->swiglu_backward(n, x, up, dy, y, z))
void bench_softcap(const kernels *k) { time_softcap(k); }
void bench_swiglu(const kernels *k) { time_swiglu(k); }
void bench_swiglu_backward(const kernels *k) { time_swiglu_backward(k); }
