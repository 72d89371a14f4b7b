/* tests/kernels/check_rows.c: softmax, layer norm and cross-entropy of one row. For check_kernels.
 * Not their gradients as gradients: see the double build; here backward is a formula like any other.
 *
 * Bounds: one rounding is at most u = 2^-24 relative; a sum of n elements x in 16 lanes and a tree is off by
 * at most (n / 16 + 5) u sum|x|; an exp by 2 ulp, that is 4 u, plus what its argument is off, and FLT_MIN
 * where it flushes. */
#include "check.h"

#include <float.h>
#include <string.h>

enum { X, KEEP, OUT, WANT, DY, GAMMA, BETA, DGAMMA, DBETA, WANT_DGAMMA, WANT_DBETA, STATS };

static const double u = CHECK_U;
#define SLACK 1.01 /* for the products of errors that the bounds leave out */

static double sum_error(size_t n) { return ((double)n / 16 + 5) * u; }

/* The relative error of the float exp(fl(s) - max), |s| and the difference given. */
static double exp_error(double s, double difference) { return u * fabs(s) + u * fabs(difference) + 4 * u; }

/* ---- softmax ------------------------------------------------------------------------------------------- */
typedef struct row {
    size_t n, total;
    const float *x;
    const uint8_t *keep;
    float scale;
} row;

static bool kept(const row *r, size_t j) { return j < r->n && (!r->keep || r->keep[j]); }

static void check_softmax_bounds(check *c, const row *r, const float *p)
{
    double max = -INFINITY, sum = 0, error = 0;
    for (size_t j = 0; j < r->n; j++)
        if (kept(r, j))
            max = fmax(max, (double)r->scale * r->x[j]);
    for (size_t j = 0; j < r->n; j++)
        if (kept(r, j)) {
            double s = (double)r->scale * r->x[j], e = exp(s - max);
            sum += e;
            error += e * (exp_error(s, s - max) + u * fabs(max)) + FLT_MIN;
        }
    for (size_t j = 0; j < r->total; j++) {
        double s = kept(r, j) ? (double)r->scale * r->x[j] : -INFINITY,
               want = s > -INFINITY ? exp(s - max) / sum : 0;
        double own = s > -INFINITY ? exp_error(s, s - max) + u * fabs(max) : 0;
        double bound = want * (own + error / sum + sum_error(r->n) + 2 * u) * SLACK + 2 * FLT_MIN;
        check_within(c, j, p[j], want, want > 0 ? bound : 0, "p");
    }
}

/* keep == NULL for how 0, some for 1, none for 2. */
static row make_row(size_t n, size_t total, int how, bool wild)
{
    float *x = check_slot(X, n);
    uint8_t *keep = how ? check_slot_bytes(KEEP, n) : NULL;
    (wild ? check_random_wild : check_random)(x, n);
    for (size_t j = 0; keep && j < n; j++)
        keep[j] = how == 1 ? check_random_int(3) != 0 : 0;
    return (row){n, total, x, keep, how == 1 ? 0.35f : 1.7f};
}

static void run_softmax(check *c, row r, bool wild)
{
    float *p = check_slot(OUT, r.total), *want = check_slot(WANT, r.total), *again = check_slot(DY, r.total);
    float max, inv, want_max, want_inv;
    bool empty = true;
    c->k->softmax(r.total, r.n, r.x, r.keep, r.scale, p, &max, &inv);
    c->scalar->softmax(r.total, r.n, r.x, r.keep, r.scale, want, &want_max, &want_inv);
    check_canary(c, p, "p");
    check_same(c, r.total, p, want, wild ? "p, odd numbers" : "p");
    check_same(c, 1, &max, &want_max, "max");
    check_same(c, 1, &inv, &want_inv, "inv_sum");
    c->k->softmax_recompute(r.total, r.n, r.x, r.keep, r.scale, max, inv, again);
    check_same(c, r.total, again, p, "again");
    check_canary(c, again, "again");
    for (size_t j = 0; j < r.total; j++) {
        empty = empty && !kept(&r, j);
        if (!kept(&r, j))
            check_that(c, p[j] == 0, "p[%zu] of one left out is %g", j, (double)p[j]);
    }
    if (empty)
        check_that(c, max == 0 && inv == 0, "an empty row has max %g and inv_sum %g", (double)max,
                   (double)inv);
    else if (!wild)
        check_softmax_bounds(c, &r, p);
}

static void run_softmax_in_place(check *c, row r)
{
    float *p = check_slot(OUT, r.total), *want = check_slot(WANT, r.total), max, inv;
    c->k->softmax(r.total, r.n, r.x, r.keep, r.scale, want, &max, &inv);
    memcpy(p, r.x, r.n * sizeof *p);
    c->k->softmax(r.total, r.n, p, r.keep, r.scale, p, &max, &inv);
    check_same(c, r.total, p, want, "in place");
    memcpy(p, r.x, r.n * sizeof *p);
    c->k->softmax_recompute(r.total, r.n, p, r.keep, r.scale, max, inv, p);
    check_same(c, r.total, p, want, "again, in place");
}

static void check_hidden(check *c)
{
    const float hidden[3] = {-INFINITY, -INFINITY, -INFINITY}, spoiled[3] = {-INFINITY, NAN, -INFINITY};
    float p[3], max, inv;
    c->k->softmax(3, 3, hidden, NULL, 1, p, &max, &inv);
    check_that(c, p[0] == 0 && p[1] == 0 && p[2] == 0 && max == 0 && inv == 0,
               "a row of -inf is not an empty row");
    c->k->softmax(3, 3, spoiled, NULL, 1, p, &max, &inv);
    check_that(c, isnan(p[1]), "a NaN between -inf is lost");
}

void check_softmax(check *c)
{
    check_hidden(c);
    run_softmax(c, (row){0, 5, check_slot(X, 0), NULL, 1}, false);
    for (const size_t *n = check_sizes; *n; n++)
        for (int how = 0; how < 3; how++) {
            run_softmax(c, make_row(*n, *n, how, false), false);
            run_softmax(c, make_row(*n, *n + 7, how, true), true);
            run_softmax_in_place(c, make_row(*n, *n + 2, how, false));
        }
}

/* check_softmax compares it with softmax; here it meets statistics that are not its row's own. */
void check_softmax_recompute(check *c)
{
    for (const size_t *n = check_sizes; *n; n++) {
        row r = make_row(*n, *n + 1, (int)(*n % 2), *n % 3 == 0);
        float *p = check_slot(OUT, r.total), *want = check_slot(WANT, r.total);
        c->k->softmax_recompute(r.total, r.n, r.x, r.keep, r.scale, 0.5f, 0.125f, p);
        c->scalar->softmax_recompute(r.total, r.n, r.x, r.keep, r.scale, 0.5f, 0.125f, want);
        check_same(c, r.total, p, want, "p");
        check_canary(c, p, "p");
    }
}

static void run_softmax_backward(check *c, size_t n, bool wild)
{
    float *p = check_slot(X, n), *d = check_slot(GAMMA, n), *dd = check_slot(DY, n);
    float *dx = check_slot(OUT, n), *want = check_slot(WANT, n);
    const float scale = 0.3f;
    (wild ? check_random_wild : check_random)(p, n);
    check_random(d, n);
    check_random(dd, n);
    c->k->softmax_backward(n, p, d, dd, scale, dx);
    c->scalar->softmax_backward(n, p, d, dd, scale, want);
    check_same(c, n, dx, want, "dx");
    check_canary(c, dx, "dx");
    double dot = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        dot += (double)d[i] * dd[i];
        size += fabs((double)d[i] * dd[i]);
    }
    for (size_t i = 0; i < n && !wild; i++) {
        double own = (double)d[i] * dd[i], exact = scale * (own - p[i] * dot);
        double parts = fabs(own) + fabs(p[i] * dot);
        double bound = scale * (fabs(p[i]) * sum_error(n) * size + 2 * u * parts) + u * fabs(exact);
        check_within(c, i, dx[i], exact, bound * SLACK + FLT_MIN, "dx");
    }
    c->k->softmax_backward(n, p, d, dd, scale, dd);
    check_same(c, n, dd, want, "in place");
}

void check_softmax_backward(check *c)
{
    for (const size_t *n = check_sizes; *n; n++) {
        run_softmax_backward(c, *n, false);
        run_softmax_backward(c, *n, true);
    }
}

/* ---- layer norm ---------------------------------------------------------------------------------------- */
static void check_norm_bounds(check *c, size_t n, const float *x, const float *gamma, const float *beta,
                              float eps, const float *y, const float *stats)
{
    double mean = 0, size = 0, var = 0, off = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / count;
        size += fabs((double)x[i]) / count;
    }
    double mean_error = sum_error(n) * size + u * fabs(mean);
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean, e = mean_error + u * fabs(d);
        var += d * d / count;
        off += (2 * fabs(d) * e + e * e) / count;
    }
    off += sum_error(n) * var + 2 * u * (var + eps);
    double rstd = 1 / sqrt(var + eps), relative = 0.5 * off / (var + eps) + 2 * u;
    check_within(c, n, stats[0], mean, mean_error * SLACK, "mean");
    check_within(c, n, stats[1], rstd, rstd * relative * SLACK, "rstd");
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean, g = gamma ? gamma[i] : 1, b = beta ? beta[i] : 0, exact = d * rstd * g + b;
        double bound = fabs(g) * rstd * (mean_error + fabs(d) * (relative + 2 * u)) + u * fabs(exact);
        check_within(c, i, y[i], exact, bound * SLACK, "y");
    }
}

static void run_layer_norm(check *c, size_t n, bool affine, bool wild)
{
    float *x = check_slot(X, n), *y = check_slot(OUT, n), *want = check_slot(WANT, n), stats[2],
          want_stats[2];
    float *gamma = check_slot(GAMMA, n), *beta = check_slot(BETA, n);
    const float eps = 1e-5f;
    (wild ? check_random_wild : check_random)(x, n);
    check_random(gamma, n);
    check_random(beta, n);
    if (!affine)
        gamma = beta = NULL;
    c->k->layer_norm(n, x, gamma, beta, eps, y, stats, stats + 1);
    c->scalar->layer_norm(n, x, gamma, beta, eps, want, want_stats, want_stats + 1);
    check_same(c, n, y, want, "y");
    check_same(c, 2, stats, want_stats, "mean and rstd");
    check_canary(c, y, "y");
    if (!wild && n > 1)
        check_norm_bounds(c, n, x, gamma, beta, eps, y, stats);
    c->k->layer_norm(n, x, gamma, beta, eps, x, stats, stats + 1);
    check_same(c, n, x, want, "in place");
}

void check_layer_norm(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        for (int affine = 0; affine < 2; affine++) {
            run_layer_norm(c, *n, affine, false);
            run_layer_norm(c, *n, affine, true);
        }
}

typedef struct norm_row {
    size_t n;
    const float *dy, *x, *gamma;
    float mean, rstd;
} norm_row;

static void check_norm_backward_bounds(check *c, const norm_row *r, const float *dx, const float *dgamma,
                                       const float *dbeta)
{
    double s1 = 0, s2 = 0, a1 = 0, a2 = 0, count = (double)r->n;
    for (size_t i = 0; i < r->n; i++) {
        double g = (double)r->dy[i] * (r->gamma ? r->gamma[i] : 1),
               xhat = ((double)r->x[i] - r->mean) * r->rstd;
        s1 += g / count;
        s2 += g * xhat / count;
        a1 += fabs(g) / count;
        a2 += fabs(g * xhat) / count;
    }
    for (size_t i = 0; i < r->n; i++) {
        double g = (double)r->dy[i] * (r->gamma ? r->gamma[i] : 1),
               xhat = ((double)r->x[i] - r->mean) * r->rstd;
        double e1 = (sum_error(r->n) + 2 * u) * a1, e2 = (sum_error(r->n) + 5 * u) * a2,
               inner = g - s1 - xhat * s2;
        double bound =
            u * fabs(g) + e1 + u * fabs(g - s1) + fabs(xhat) * e2 + 2 * u * fabs(xhat * s2) + u * fabs(inner);
        check_within(c, i, dx[i], r->rstd * inner, r->rstd * (bound + u * fabs(inner)) * SLACK + FLT_MIN,
                     "dx");
        if (!dgamma)
            continue;
        double product = r->dy[i] * xhat; /* added to 1, and dy to 2 */
        check_within(c, i, dgamma[i], 1 + product, 3 * u * (fabs(product) + 1), "dgamma");
        check_within(c, i, dbeta[i], 2 + (double)r->dy[i], u * fabs(2 + (double)r->dy[i]), "dbeta");
    }
}

static float *filled(int slot, size_t n, float value)
{
    float *p = check_slot(slot, n);
    for (size_t i = 0; i < n; i++)
        p[i] = value;
    return p;
}

static void run_norm_backward(check *c, size_t n, bool affine, bool wild)
{
    float *dy = check_slot(DY, n), *x = check_slot(X, n), *gamma = check_slot(GAMMA, n);
    float *dx = check_slot(OUT, n), *want = check_slot(WANT, n);
    float *dg = filled(DGAMMA, n, 1), *db = filled(DBETA, n, 2);
    float *want_dg = filled(WANT_DGAMMA, n, 1), *want_db = filled(WANT_DBETA, n, 2);
    (wild ? check_random_wild : check_random)(dy, n);
    check_random(x, n);
    check_random(gamma, n);
    norm_row r = {n, dy, x, affine ? gamma : NULL, 0.125f, 1.3f};
    c->k->layer_norm_backward(n, dy, x, r.gamma, r.mean, r.rstd, dx, affine ? dg : NULL, affine ? db : NULL);
    c->scalar->layer_norm_backward(n, dy, x, r.gamma, r.mean, r.rstd, want, affine ? want_dg : NULL,
                                   affine ? want_db : NULL);
    check_same(c, n, dx, want, "dx");
    check_same(c, n, dg, want_dg, "dgamma");
    check_same(c, n, db, want_db, "dbeta");
    check_canary(c, dx, "dx");
    check_canary(c, dg, "dgamma");
    check_canary(c, db, "dbeta");
    if (!wild)
        check_norm_backward_bounds(c, &r, dx, affine ? dg : NULL, affine ? db : NULL);
    c->k->layer_norm_backward(n, dy, memcpy(dx, x, n * sizeof *x), r.gamma, r.mean, r.rstd, dx, NULL, NULL);
    check_same(c, n, dx, want, "dx over x");
    c->k->layer_norm_backward(n, dy, x, r.gamma, r.mean, r.rstd, dy, NULL, NULL);
    check_same(c, n, dy, want, "dx over dy");
}

void check_layer_norm_backward(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        for (int affine = 0; affine < 2; affine++) {
            run_norm_backward(c, *n, affine, false);
            run_norm_backward(c, *n, affine, true);
        }
}

/* ---- cross-entropy ------------------------------------------------------------------------------------- */
static void run_log_sum_exp(check *c, size_t n, bool wild)
{
    float *x = check_slot(X, n), got[2], want[2];
    (wild ? check_random_wild : check_random)(x, n);
    c->k->log_sum_exp(n, x, got, got + 1);
    c->scalar->log_sum_exp(n, x, want, want + 1);
    check_same(c, 2, got, want, "max and sum");
    if (wild)
        return;
    double max = -INFINITY, sum = 0, error = 0;
    for (size_t j = 0; j < n; j++)
        max = fmax(max, x[j]);
    for (size_t j = 0; j < n; j++) {
        double e = exp(x[j] - max);
        sum += e;
        error += e * exp_error(0, x[j] - max) + FLT_MIN;
    }
    check_within(c, n, got[0], max, 0, "max");
    check_within(c, n, got[1], sum, (error + sum_error(n) * sum) * SLACK, "sum");
}

void check_log_sum_exp(check *c)
{
    for (const size_t *n = check_sizes; *n; n++) {
        run_log_sum_exp(c, *n, false);
        run_log_sum_exp(c, *n, true);
    }
    const float hidden[2] = {-INFINITY, -INFINITY};
    float max, sum;
    c->k->log_sum_exp(2, hidden, &max, &sum);
    check_that(c, max == -INFINITY && sum == 0, "-inf alone gives max %g and sum %g", (double)max,
               (double)sum);
}

static void run_softmax_gradient(check *c, size_t n, bool wild)
{
    float *x = check_slot(X, n), *dx = check_slot(OUT, n), *want = check_slot(WANT, n);
    const float max = 3.25f, inv = 0.0625f, scale = 0.7f, low = 0.001f;
    (wild ? check_random_wild : check_random)(x, n);
    c->k->softmax_gradient(n, x, max, inv, scale, low, dx);
    c->scalar->softmax_gradient(n, x, max, inv, scale, low, want);
    check_same(c, n, dx, want, "dx");
    check_canary(c, dx, "dx");
    for (size_t i = 0; i < n && !wild; i++) {
        double e = exp((double)x[i] - max) * inv, exact = scale * (e - low);
        double bound = scale * (e * exp_error(0, (double)x[i] - max) + u * fabs(e - low)) + u * fabs(exact);
        check_within(c, i, dx[i], exact, bound * SLACK + FLT_MIN, "dx");
    }
    c->k->softmax_gradient(n, x, max, inv, scale, low, x);
    check_same(c, n, x, want, "in place");
}

void check_softmax_gradient(check *c)
{
    for (const size_t *n = check_sizes; *n; n++) {
        run_softmax_gradient(c, *n, false);
        run_softmax_gradient(c, *n, true);
    }
}

/* ---- speed --------------------------------------------------------------------------------------------- */
#define BENCH(name, call)                                                                       \
    void bench_##name(const kernels *k)                                                         \
    {                                                                                           \
        for (const size_t *size = check_bench_sizes; *size; size++) {                           \
            size_t n = *size;                                                                   \
            float *x = check_room(X, n), *y = check_room(OUT, n), *z = check_room(DY, n), s[2]; \
            float *gamma = check_room(GAMMA, n), *beta = check_room(BETA, n);                   \
            double seconds;                                                                     \
            char what[40];                                                                      \
            check_random(x, n);                                                                 \
            check_random(z, n);                                                                 \
            check_random(gamma, n);                                                             \
            check_random(beta, n);                                                              \
            (void)y, (void)s;                                                                   \
            CHECK_TIME(seconds, call);                                                          \
            snprintf(what, sizeof what, "n = %zu", n);                                          \
            check_report(k, #name, what, (double)n, seconds, false);                            \
        }                                                                                       \
    }
BENCH(softmax, k->softmax(n, n, x, NULL, 0.5f, y, s, s + 1))
BENCH(softmax_recompute, k->softmax_recompute(n, n, x, NULL, 0.5f, 1, 0.5f, y))
BENCH(softmax_backward, k->softmax_backward(n, x, gamma, z, 0.5f, y))
BENCH(layer_norm, k->layer_norm(n, x, gamma, beta, 1e-5f, y, s, s + 1))
BENCH(layer_norm_backward, k->layer_norm_backward(n, x, z, gamma, 0.1f, 0.9f, y, NULL, beta))
BENCH(log_sum_exp, k->log_sum_exp(n, x, s, s + 1))
BENCH(softmax_gradient, k->softmax_gradient(n, x, 3, 0.1f, 0.5f, 0.01f, y))
