/* tests/kernels/check_rms_norm.c: root mean square normalization of one row, and its backward formula. For check_kernels.
 * check_rows.c has layer norm. Bounds as there: a rounding is u = 2^-24, a row sum (n / 16 + 5) u sum|x|. */
#include "check.h"

#include <float.h>
#include <string.h>

enum { X, GAMMA, OUT, WANT, DY, DGAMMA, WANT_DGAMMA };

static const double u = CHECK_U;
#define SLACK 1.01 /* for the products of errors that the bounds leave out */
#define EPS 1e-6f

static double sum_error(size_t n) { return ((double)n / 16 + 5) * u; }

static void check_norm_bounds(check *c, size_t n, const float *x, const float *gamma, const float *y, float rstd)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)x[i] * x[i] / (double)n;
    double exact = 1 / sqrt(mean + EPS), relative = 0.5 * sum_error(n) + 3 * u;
    check_within(c, n, rstd, exact, exact * relative * SLACK, "rstd");
    for (size_t i = 0; i < n; i++) {
        double want = x[i] * exact * (gamma ? gamma[i] : 1);
        check_within(c, i, y[i], want, fabs(want) * (relative + 2 * u) * SLACK, "y");
    }
}

static void run_rms_norm(check *c, size_t n, bool scaled, bool wild)
{
    float *x = check_slot(X, n), *y = check_slot(OUT, n), *want = check_slot(WANT, n), *gamma = check_slot(GAMMA, n);
    float rstd, want_rstd;
    (wild ? check_random_wild : check_random)(x, n);
    check_random(gamma, n);
    if (!scaled)
        gamma = NULL;
    c->k->rms_norm(n, x, gamma, EPS, y, &rstd);
    c->scalar->rms_norm(n, x, gamma, EPS, want, &want_rstd);
    check_same(c, n, y, want, "y");
    check_same(c, 1, &rstd, &want_rstd, "rstd");
    check_canary(c, y, "y");
    if (!wild)
        check_norm_bounds(c, n, x, gamma, y, rstd);
    c->k->rms_norm(n, x, gamma, EPS, x, &rstd);
    check_same(c, n, x, want, "in place");
}

void check_rms_norm(check *c)
{
    const float zeros[3] = {0, 0, 0};
    float y[3], rstd;
    c->k->rms_norm(3, zeros, NULL, EPS, y, &rstd);
    check_same(c, 3, y, zeros, "of zeros");
    for (const size_t *n = check_sizes; *n; n++)
        for (int scaled = 0; scaled < 2; scaled++) {
            run_rms_norm(c, *n, scaled, false);
            run_rms_norm(c, *n, scaled, true);
        }
}

typedef struct norm_row {
    size_t n;
    const float *dy, *x, *gamma;
    float rstd;
} norm_row;

static double g_at(const norm_row *r, size_t i) { return (double)r->dy[i] * (r->gamma ? r->gamma[i] : 1); }

static void check_backward_bounds(check *c, const norm_row *r, const float *dx, const float *dgamma)
{
    double mean = 0, size = 0, count = (double)r->n;
    for (size_t i = 0; i < r->n; i++) {
        mean += g_at(r, i) * r->x[i] * r->rstd / count;
        size += fabs(g_at(r, i) * r->x[i] * r->rstd) / count;
    }
    for (size_t i = 0; i < r->n; i++) {
        double g = g_at(r, i), xhat = (double)r->x[i] * r->rstd, inner = g - xhat * mean;
        double bound = u * fabs(g) + fabs(xhat) * (sum_error(r->n) + 4 * u) * size + 2 * u * fabs(inner);
        check_within(c, i, dx[i], r->rstd * inner, r->rstd * bound * SLACK + FLT_MIN, "dx");
        double product = r->dy[i] * xhat; /* added to 1 */
        if (dgamma)
            check_within(c, i, dgamma[i], 1 + product, 3 * u * (fabs(product) + 1), "dgamma");
    }
}

static float *ones(int slot, size_t n)
{
    float *p = check_slot(slot, n);
    for (size_t i = 0; i < n; i++)
        p[i] = 1;
    return p;
}

static void run_backward(check *c, size_t n, bool scaled, bool wild)
{
    float *dy = check_slot(DY, n), *x = check_slot(X, n), *gamma = check_slot(GAMMA, n);
    float *dx = check_slot(OUT, n), *want = check_slot(WANT, n), *dg = ones(DGAMMA, n), *want_dg = ones(WANT_DGAMMA, n);
    (wild ? check_random_wild : check_random)(dy, n);
    check_random(x, n);
    check_random(gamma, n);
    norm_row r = {n, dy, x, scaled ? gamma : NULL, 1.3f};
    c->k->rms_norm_backward(n, dy, x, r.gamma, r.rstd, dx, scaled ? dg : NULL);
    c->scalar->rms_norm_backward(n, dy, x, r.gamma, r.rstd, want, scaled ? want_dg : NULL);
    check_same(c, n, dx, want, "dx");
    check_same(c, n, dg, want_dg, "dgamma");
    check_canary(c, dx, "dx");
    check_canary(c, dg, "dgamma");
    if (!wild)
        check_backward_bounds(c, &r, dx, scaled ? dg : NULL);
    c->k->rms_norm_backward(n, dy, memcpy(dx, x, n * sizeof *x), r.gamma, r.rstd, dx, NULL);
    check_same(c, n, dx, want, "dx over x");
    c->k->rms_norm_backward(n, dy, x, r.gamma, r.rstd, dy, NULL);
    check_same(c, n, dy, want, "dx over dy");
}

void check_rms_norm_backward(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        for (int scaled = 0; scaled < 2; scaled++) {
            run_backward(c, *n, scaled, false);
            run_backward(c, *n, scaled, true);
        }
}

/* ---- speed --------------------------------------------------------------------------------------------- */
#define BENCH(name, call)                                                                    \
    void bench_##name(const kernels *k)                                                      \
    {                                                                                        \
        for (const size_t *size = check_bench_sizes; *size; size++) {                        \
            size_t n = *size;                                                                \
            float *x = check_room(X, n), *y = check_room(OUT, n), *gamma = check_room(GAMMA, n);\
            float *dy = check_room(DY, n), *dgamma = check_room(DGAMMA, n), rstd = 0.9f;     \
            double seconds;                                                                  \
            char what[40];                                                                   \
            check_random(x, n);                                                              \
            check_random(gamma, n);                                                          \
            check_random(dy, n);                                                             \
            memset(dgamma, 0, n * sizeof *dgamma);                                           \
            CHECK_TIME(seconds, call);                                                       \
            snprintf(what, sizeof what, "n = %zu", n);                                       \
            check_report(k, #name, what, (double)n, seconds, false);                         \
        }                                                                                    \
    }
BENCH(rms_norm, k->rms_norm(n, x, gamma, EPS, y, &rstd))
BENCH(rms_norm_backward, k->rms_norm_backward(n, dy, x, gamma, rstd, y, dgamma))
