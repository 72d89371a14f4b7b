/* tests/kernels/check_rotary.c: pairs of features turned by the angles of a table. For check_kernels.
 * Not the angles themselves, which the module makes. The reference is a complex product in double. */
#include "check.h"

#include <string.h>

enum { X, TABLE, OUT, WANT, BACK };

static const double u = CHECK_U;

static void fill_table(float *table, size_t half)
{
    for (size_t j = 0; j < half; j++) {
        double angle = 0.37 * (double)j + 0.1;
        table[j] = (float)cos(angle);
        table[half + j] = (float)sin(angle);
    }
}

/* Each product is off by a rounding, and so is their sum. */
static void check_turned(check *c, size_t heads, size_t half, float direction, const float *x, const float *table,
                         const float *y)
{
    for (size_t i = 0; i < heads * half; i++) {
        size_t j = i % half, at = i / half * 2 * half + j;
        double a = x[at], b = x[at + half], cosine = table[j], sine = (double)direction * table[half + j];
        double size = 2 * u * (fabs(a) + fabs(b));
        check_within(c, at, y[at], a * cosine - b * sine, size, "first of a pair");
        check_within(c, at, y[at + half], b * cosine + a * sine, size, "second of a pair");
    }
}

static void run_rotary(check *c, size_t heads, size_t half, float direction, bool wild)
{
    size_t n = heads * 2 * half;
    float *x = check_slot(X, n), *table = check_slot(TABLE, 2 * half), *y = check_slot(OUT, n), *want = check_slot(WANT, n);
    (wild ? check_random_wild : check_random)(x, n);
    fill_table(table, half);
    c->k->rotary(heads, half, direction, x, table, y);
    c->scalar->rotary(heads, half, direction, x, table, want);
    check_same(c, n, y, want, "y");
    check_canary(c, y, "y");
    if (!wild)
        check_turned(c, heads, half, direction, x, table, y);
    c->k->rotary(heads, half, direction, x, table, x);
    check_same(c, n, x, want, "in place");
}

/* There and back. */
static void check_back(check *c, size_t heads, size_t half)
{
    size_t n = heads * 2 * half;
    float *x = check_slot(X, n), *table = check_slot(TABLE, 2 * half), *y = check_slot(OUT, n);
    check_random(x, n);
    fill_table(table, half);
    c->k->rotary(heads, half, 1, x, table, y);
    c->k->rotary(heads, half, -1, y, table, y);
    for (size_t i = 0; i < n; i++) {
        size_t pair = i / half % 2 ? i - half : i + half;
        check_within(c, i, y[i], x[i], 8 * u * (fabs((double)x[i]) + fabs((double)x[pair])), "turned back");
    }
}

void check_rotary(check *c)
{
    const float still[2] = {1, 0}, x[2] = {3, -5};
    float y[2];
    c->k->rotary(1, 1, 1, x, still, y);
    check_same(c, 2, y, x, "by an angle of 0");
    c->k->rotary(1, 1, 1, x, (const float[]){0, 1}, y);
    check_same(c, 2, y, (const float[]){5, 3}, "by a right angle");
    for (const size_t *half = check_sizes; *half; half++)
        for (size_t heads = 1; heads <= 5; heads += 2) {
            run_rotary(c, heads, *half, 1, false);
            run_rotary(c, heads, *half, -1, false);
            run_rotary(c, heads, *half, 1, true);
            check_back(c, heads, *half);
        }
}

void bench_rotary(const kernels *k)
{
    const size_t halves[] = {8, 16, 32, 64};
    for (int i = 0; i < 4; i++) {
        size_t half = halves[i], heads = 512 / half, n = 2 * half * heads;
        float *x = check_room(X, n), *table = check_room(TABLE, 2 * half), *y = check_room(OUT, n);
        double seconds;
        char what[40];
        check_random(x, n);
        fill_table(table, half);
        CHECK_TIME(seconds, k->rotary(heads, half, 1, x, table, y));
        snprintf(what, sizeof what, "%zu heads of %zu", heads, 2 * half);
        check_report(k, "rotary", what, (double)n, seconds, false);
    }
}
