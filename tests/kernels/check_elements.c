/* tests/kernels/check_elements.c: elementwise kernels, sums, searches and Adam. For check_kernels. check_exp.c and
 * check_dropout.c have exp and dropout.
 *
 * add, scale, axpy, ... round once, so the same C expression on one element must give the same bits. */
#include "check.h"

#include <float.h>
#include <string.h>

enum { A, B, OUT, WANT, M, V, WANT_M, WANT_V };

static const double u = CHECK_U;
static const float alpha = 0.7f;

/* Compares OUT with WANT, and that nothing before OUT was written. */
static void check_out(check *c, size_t n, const float *out, const float *want, const char *what)
{
    check_same(c, n, out, want, what);
    check_canary(c, out, what);
}

/* One elementwise kernel: `call` writes y from a and b, `value` is element i of what y must be, and
 * `in_place` is the call with an operand as its output. */
#define ELEMENTWISE(name, call, value, in_place, in_place_out)                           \
    void check_##name(check *c)                                                          \
    {                                                                                    \
        for (const size_t *size = check_sizes; *size; size++) {                          \
            size_t n = *size;                                                            \
            float *a = check_slot(A, n), *b = check_slot(B, n);                          \
            float *y = check_slot(OUT, n), *want = check_slot(WANT, n);                  \
            check_random_wild(a, n);                                                     \
            check_random_wild(b, n);                                                     \
            memcpy(y, b, n * sizeof *y);                                                 \
            for (size_t i = 0; i < n; i++)                                               \
                want[i] = (value);                                                       \
            c->k->call;                                                                  \
            check_out(c, n, y, want, "y");                                               \
            c->k->in_place;                                                              \
            check_out(c, n, in_place_out, want, "in place");                             \
        }                                                                                \
    }                                                                                    \
    void bench_##name(const kernels *k)                                                  \
    {                                                                                    \
        for (const size_t *size = check_bench_sizes; *size; size++) {                    \
            size_t n = *size;                                                            \
            float *a = check_room(A, n), *b = check_room(B, n), *y = check_room(OUT, n); \
            double seconds;                                                              \
            char what[40];                                                               \
            check_random(a, n);                                                          \
            check_random(b, n);                                                          \
            check_random(y, n);                                                          \
            (void)a, (void)b;                                                            \
            CHECK_TIME(seconds, k->call);                                                \
            snprintf(what, sizeof what, "n = %zu", n);                                   \
            check_report(k, #name, what, (double)n, seconds, false);                     \
        }                                                                                \
    }
ELEMENTWISE(fill, fill(n, alpha, y), alpha, fill(n, alpha, a), a)
ELEMENTWISE(add, add(n, a, b, y), a[i] + b[i], add(n, a, b, a), a)
ELEMENTWISE(mul, mul(n, a, b, y), a[i] * b[i], mul(n, a, b, a), a)
ELEMENTWISE(mul_add, mul_add(n, a, b, y), fmaf(a[i], b[i], b[i]), mul_add(n, a, b, b), b)
ELEMENTWISE(scale, scale(n, alpha, a, y), alpha * a[i], scale(n, alpha, a, a), a)
ELEMENTWISE(axpy, axpy(n, alpha, a, y), fmaf(alpha, a[i], b[i]), axpy(n, alpha, a, b), b)
ELEMENTWISE(scale_add, scale_add(n, alpha, a, b, y), fmaf(alpha, a[i], b[i]), scale_add(n, alpha, a, b, b), b)
ELEMENTWISE(relu, relu(n, a, y), 0 > a[i] ? 0 : a[i], relu(n, a, a), a)
ELEMENTWISE(relu_backward, relu_backward(n, a, b, y), a[i] > 0 ? b[i] : 0, relu_backward(n, a, b, b), b)

/* ---- sums ---------------------------------------------------------------------------------------------- */
/* By the letter of kernels.h: lanes, then the tree. */
static float lane_sum(size_t n, const float *x, bool squares)
{
    float lane[16] = {0};
    for (size_t i = 0; i < n; i++)
        lane[i % 16] = squares ? fmaf(x[i], x[i], lane[i % 16]) : lane[i % 16] + x[i];
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

static void run_sum(check *c, size_t n, bool squares, bool wild)
{
    float *x = check_slot(A, n);
    (wild ? check_random_wild : check_random)(x, n);
    float got = squares ? c->k->sum_squares(n, x) : c->k->sum(n, x), want = lane_sum(n, x, squares);
    check_same(c, 1, &got, &want, "sum");
    double exact = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        exact += squares ? (double)x[i] * x[i] : x[i];
        size += squares ? (double)x[i] * x[i] : fabs((double)x[i]);
    }
    if (!wild)
        check_within(c, n, got, exact, ((double)n / 16 + 5) * u * size, "sum");
}

static void run_sums(check *c, bool squares)
{
    for (const size_t *n = check_sizes; *n; n++) {
        run_sum(c, *n, squares, false);
        run_sum(c, *n, squares, true);
    }
}

void check_sum(check *c) { run_sums(c, false); }
void check_sum_squares(check *c) { run_sums(c, true); }

/* ---- searches ------------------------------------------------------------------------------------------ */
void check_all_finite(check *c)
{
    const float bad[3] = {NAN, INFINITY, -INFINITY};
    for (const size_t *size = check_sizes; *size; size++) {
        size_t n = *size;
        float *x = check_slot(A, n);
        for (size_t i = 0; i < n; i++)
            x[i] = i % 3 ? FLT_MAX : -FLT_MAX; /* their sum is infinite, they are not */
        check_that(c, c->k->all_finite(n, x), "n = %zu: finite numbers are not", n);
        for (size_t i = 0; i < n; i++) {
            float before = x[i];
            x[i] = bad[i % 3];
            check_that(c, !c->k->all_finite(n, x), "n = %zu: %g at %zu is finite", n, (double)x[i], i);
            x[i] = before;
        }
    }
}

static size_t plain_argmax(size_t n, const float *x)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]) && (best == n || x[i] > x[best]))
            best = i;
    return best == n ? 0 : best;
}

static void run_argmax(check *c, size_t n, const float *x, const char *what)
{
    size_t got = c->k->argmax(n, x), want = plain_argmax(n, x);
    check_that(c, got == want, "%s, n = %zu: %zu, not %zu", what, n, got, want);
}

void check_argmax(check *c)
{
    const float few[4] = {NAN, -INFINITY, -1, -0.5f};
    for (const size_t *size = check_sizes; *size; size++)
        for (int repeat = 0; repeat < 8; repeat++) {
            float *x = check_slot(A, *size);
            check_random(x, *size);
            run_argmax(c, *size, x, "random");
            check_random_wild(x, *size);
            run_argmax(c, *size, x, "odd numbers");
            for (size_t i = 0; i < *size; i++)
                x[i] = few[check_random_int(repeat < 4 ? 4 : 2)];
            run_argmax(c, *size, x, "ties and NaN");
        }
}

static void run_first_at_least(check *c, size_t n, const float *x, float limit)
{
    size_t got = c->k->first_at_least(n, x, limit), want = 0;
    while (want < n && !(x[want] >= limit))
        want++;
    check_that(c, got == want, "at least %g, n = %zu: %zu, not %zu", (double)limit, n, got, want);
}

void check_first_at_least(check *c)
{
    run_first_at_least(c, 0, check_slot(A, 0), 0);
    for (const size_t *size = check_sizes; *size; size++)
        for (int repeat = 0; repeat < 8; repeat++) {
            float *x = check_slot(A, *size);
            check_random(x, *size);
            const float limits[] = {-INFINITY, 0, 1, 2, 3, x[*size - 1], INFINITY};
            for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
                run_first_at_least(c, *size, x, limits[i]);
            for (size_t i = 0; i < *size; i++)
                x[i] = i + 1 == *size ? 1 : -INFINITY;
            run_first_at_least(c, *size, x, -INFINITY);
        }
}

/* ---- column sums --------------------------------------------------------------------------------------- */
static void run_column_sums(check *c, size_t rows, size_t cols)
{
    size_t ld = cols + 3, n = (rows - 1) * ld + cols;
    float *x = check_slot(A, n), *out = check_slot(OUT, cols), *want = check_slot(WANT, cols);
    check_random(x, n);
    check_random(out, cols);
    memcpy(want, out, cols * sizeof *out);
    c->k->column_sums(rows, cols, x, ld, out);
    for (size_t j = 0; j < cols; j++) {
        float sum = 0, before = want[j];
        double exact = before, size = fabs((double)before);
        for (size_t i = 0; i < rows; i++) {
            sum += x[i * ld + j];
            exact += x[i * ld + j];
            size += fabs((double)x[i * ld + j]);
        }
        want[j] = before + sum;
        check_within(c, j, out[j], exact, ((double)rows + 1) * u * size, "column");
    }
    check_out(c, cols, out, want, "columns");
}

void check_column_sums(check *c)
{
    for (const size_t *cols = check_sizes; *cols; cols++)
        for (size_t rows = 1; rows < 20; rows += 6)
            run_column_sums(c, rows, *cols);
}

/* ---- Adam ---------------------------------------------------------------------------------------------- */
static const kernels_adam step = {.beta1 = 0.9f,
                                  .beta2 = 0.98f,
                                  .step_size = 0.01f,
                                  .inv_sqrt_bc2 = 2.5f,
                                  .eps = 1e-8f,
                                  .grad_scale = 0.5f,
                                  .decay = 0.999f};

typedef struct adam_element { double p, grad, m, v; } adam_element;

static void check_adam_bounds(check *c, size_t i, adam_element old, const float *p, const float *m,
                              const float *v)
{
    double b1 = step.beta1, b2 = step.beta2, g = old.grad * step.grad_scale;
    double mean = b1 * old.m + (1 - b1) * g,
           mean_error = u * fabs(b1 * old.m) + 2 * u * fabs((1 - b1) * g) + u * fabs(mean);
    double square = b2 * old.v + (1 - b2) * g * g, square_error = 6 * u * square;
    double root = sqrt(square), denominator = root * step.inv_sqrt_bc2 + step.eps;
    double ratio = mean / denominator, relative = 0.5 * square_error / square + 3 * u;
    double after = step.decay * old.p - step.step_size * ratio;
    double ratio_error = mean_error / denominator + fabs(ratio) * relative;
    check_within(c, i, m[i], mean, mean_error * 1.01, "m");
    check_within(c, i, v[i], square, square_error, "v");
    check_within(c, i, p[i], after,
                 (step.step_size * ratio_error + u * fabs(step.decay * old.p) + u * fabs(after)) * 1.01, "p");
}

static void run_adam(check *c, size_t n)
{
    float *p = check_slot(OUT, n), *g = check_slot(A, n), *m = check_slot(M, n), *v = check_slot(V, n);
    float *want = check_slot(WANT, n), *want_m = check_slot(WANT_M, n), *want_v = check_slot(WANT_V, n);
    float *old = check_slot(B, n);
    check_random(p, n);
    check_random(g, n);
    check_random(m, n);
    check_random(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] * v[i] + 1e-3f;
    memcpy(old, p, n * sizeof *p);
    memcpy(want, p, n * sizeof *p);
    memcpy(want_m, m, n * sizeof *m);
    memcpy(want_v, v, n * sizeof *v);
    adam_element before[2] = {{p[0], g[0], m[0], v[0]}, {p[n - 1], g[n - 1], m[n - 1], v[n - 1]}};
    c->scalar->adam(n, want, g, want_m, want_v, &step);
    c->k->adam(n, p, g, m, v, &step);
    check_out(c, n, p, want, "p");
    check_out(c, n, m, want_m, "m");
    check_out(c, n, v, want_v, "v");
    check_adam_bounds(c, 0, before[0], p, m, v);
    check_adam_bounds(c, n - 1, before[1], p, m, v);
}

void check_adam(check *c)
{
    for (const size_t *n = check_sizes; *n; n++)
        for (int repeat = 0; repeat < 10; repeat++)
            run_adam(c, *n);
}

/* ---- SGD ----------------------------------------------------------------------------------------------- */

/* Element i after a step, in double; *m its momentum, NULL: none. `roundings`: an upper bound of the error. */
static double descended(double p, double g, double *m, const kernels_sgd *a, double *roundings)
{
    const double scaled = g * a->grad_scale, total = scaled + a->weight_decay * p;
    const double error = u * (fabs(scaled) + fabs(total));
    if (!m) {
        const double after = p - a->lr * total;
        *roundings = 1.01 * (a->lr * error + u * fabs(after));
        return after;
    }
    *m = a->momentum * *m + total;
    const double of_m = error + u * fabs(*m), moved = a->nesterov ? total + a->momentum * *m : *m;
    const double of_moved = a->nesterov ? error + a->momentum * of_m + u * fabs(moved) : of_m;
    const double after = p - a->lr * moved;
    *roundings = 1.01 * (a->lr * of_moved + u * fabs(after));
    return after;
}

static void run_sgd(check *c, size_t n, bool with_momentum, bool with_grad, const kernels_sgd *a)
{
    float *p = check_slot(OUT, n), *g = check_slot(A, n), *m = check_slot(M, n), *old = check_slot(B, n);
    float *want = check_slot(WANT, n), *want_m = check_slot(WANT_M, n);
    check_random(p, n);
    check_random(g, n);
    check_random(m, n);
    memcpy(old, p, n * sizeof *p);
    memcpy(want, p, n * sizeof *p);
    memcpy(want_m, m, n * sizeof *m);
    double first_m = m[0], last_m = m[n - 1], first_error, last_error;
    const double first = descended(p[0], with_grad ? g[0] : 0, with_momentum ? &first_m : NULL, a, &first_error);
    const double last = descended(p[n - 1], with_grad ? g[n - 1] : 0, with_momentum ? &last_m : NULL, a, &last_error);
    c->scalar->sgd(n, want, with_grad ? g : NULL, with_momentum ? want_m : NULL, a);
    c->k->sgd(n, p, with_grad ? g : NULL, with_momentum ? m : NULL, a);
    check_out(c, n, p, want, "p");
    check_out(c, n, m, want_m, "m");
    check_within(c, 0, p[0], first, first_error, "p");
    check_within(c, n - 1, p[n - 1], last, last_error, "p");
}

void check_sgd(check *c)
{
    kernels_sgd a = {.lr = 0.05f, .momentum = 0.9f, .weight_decay = 0.01f, .grad_scale = 0.5f};
    for (const size_t *n = check_sizes; *n; n++)
        for (int kind = 0; kind < 8; kind++) {
            a.nesterov = kind / 4;
            run_sgd(c, *n, kind % 2, kind / 2 % 2, &a);
        }
}

/* ---- speed --------------------------------------------------------------------------------------------- */
#define BENCH(name, call)                                             \
    void bench_##name(const kernels *k)                               \
    {                                                                 \
        for (const size_t *size = check_bench_sizes; *size; size++) { \
            size_t n = *size;                                         \
            float *x = check_room(A, n);                              \
            double seconds;                                           \
            char what[40];                                            \
            volatile double sink = 0;                                 \
            check_random(x, n);                                       \
            CHECK_TIME(seconds, sink = (double)k->call);              \
            (void)sink;                                               \
            snprintf(what, sizeof what, "n = %zu", n);                \
            check_report(k, #name, what, (double)n, seconds, false);  \
        }                                                             \
    }
BENCH(sum, sum(n, x))
BENCH(sum_squares, sum_squares(n, x))
BENCH(all_finite, all_finite(n, x))
BENCH(argmax, argmax(n, x))
BENCH(first_at_least, first_at_least(n, x, INFINITY))

void bench_column_sums(const kernels *k)
{
    float *x = check_room(A, 512 * 128), *out = check_room(OUT, 128);
    double seconds;
    memset(x, 0, 512 * 128 * sizeof *x);
    memset(out, 0, 128 * sizeof *out);
    CHECK_TIME(seconds, k->column_sums(512, 128, x, 128, out));
    check_report(k, "column_sums", "512 x 128", 512 * 128, seconds, false);
}

void bench_adam(const kernels *k)
{
    size_t n = 10000;
    float *p = check_room(OUT, n), *g = check_room(A, n), *m = check_room(M, n), *v = check_room(V, n);
    double seconds;
    check_random(p, n);
    check_random(g, n);
    memset(m, 0, n * sizeof *m);
    memset(v, 0, n * sizeof *v);
    CHECK_TIME(seconds, k->adam(n, p, g, m, v, &step));
    check_report(k, "adam", "n = 10000", (double)n, seconds, false);
}

void bench_sgd(const kernels *k)
{
    const kernels_sgd a = {.lr = 0.01f, .momentum = 0.9f, .grad_scale = 1};
    size_t n = 10000;
    float *p = check_room(OUT, n), *g = check_room(A, n), *m = check_room(M, n);
    double seconds;
    check_random(p, n);
    check_random(g, n);
    memset(m, 0, n * sizeof *m);
    CHECK_TIME(seconds, k->sgd(n, p, g, m, &a));
    check_report(k, "sgd", "n = 10000, with momentum", (double)n, seconds, false);
}
