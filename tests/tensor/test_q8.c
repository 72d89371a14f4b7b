/* tests/tensor/test_q8.c: products of numbers rounded to 8 bits in blocks (q8_0) against their definition in
 * docs/number-format.md, written down here as loops: the same bits for any level, number of threads, and rows beside. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tensor/gemm.h"

#include "base/rng.h"
#include "levels.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 32, SHAPES = 40 };

/* ---- the definition --------------------------------------------------------------------------------------------- */

typedef struct rounded {
    float scale;
    int values[BLOCK];
} rounded;

static float largest_of(const float *x)
{
    float most = 0;
    for (int i = 0; i < BLOCK; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most;
}

static rounded activations(const float *x)
{
    const float most = largest_of(x);
    rounded r = {.scale = most < 0x1p-96f ? 0 : most / 127};
    for (int i = 0; i < BLOCK && most >= 0x1p-96f; i++)
        r.values[i] = (int)nearbyintf(x[i] * (127 / most));
    return r;
}

/* The nearest number of 11 binary digits, 2^-24 apart at least. */
static float half(float x)
{
    int exponent;
    frexpf(x, &exponent);
    const float unit = ldexpf(1, exponent - 11 > -24 ? exponent - 11 : -24);
    return nearbyintf(x / unit) * unit;
}

static rounded weights(const float *x)
{
    const float scale = largest_of(x) / 127;
    rounded r = {.scale = half(scale)};
    for (int i = 0; i < BLOCK && scale > 0; i++)
        r.values[i] = (int)roundf(x[i] * (1 / scale));
    return r;
}

/* Elements k0 .. k0 + 31 of a row of k, zeros behind them. */
static void block_of(const float *row, size_t k0, size_t k, float *to)
{
    for (size_t i = 0; i < BLOCK; i++)
        to[i] = k0 + i < k ? row[k0 + i] : 0;
}

/* Rows a [k] and w [k]: their product, from where *c is. */
static void multiply(const float *a, const float *w, size_t k, bool accumulate, const float *bias, float *c)
{
    for (size_t k0 = 0; k0 < k; k0 += KERNELS_K_BLOCK) {
        float sum = 0;
        for (size_t b = k0; b < k && b < k0 + KERNELS_K_BLOCK; b += BLOCK) {
            float x[BLOCK], y[BLOCK];
            int total = 0;
            block_of(a, b, k, x);
            block_of(w, b, k, y);
            const rounded p = activations(x), q = weights(y);
            for (int i = 0; i < BLOCK; i++)
                total += p.values[i] * q.values[i];
            sum = fmaf(q.scale * p.scale, (float)total, sum);
        }
        *c = k0 > 0 || accumulate ? *c + sum : sum;
    }
    *c = bias ? *c + *bias : *c;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

typedef struct product {
    size_t m, n, k;
    bool accumulates;
    float *a, *w, *bias, *start, *want, *c; /* w [n, k] */
} product;

static float *aligned(size_t count)
{
    float *x = aligned_alloc(KERNELS_ALIGN, (count * sizeof *x + KERNELS_ALIGN) / KERNELS_ALIGN * KERNELS_ALIGN);
    assert_non_null(x);
    return x;
}

/* Of magnitudes that differ a lot between blocks; some blocks are zeros, and some products ties. */
static float *numbers(size_t count, uint64_t key)
{
    float *x = aligned(count);
    for (size_t i = 0; i < count; i++) {
        const int kind = (int)rng_below(key, 2 * (i / 29), 9);
        const float value = (float)(2 * rng_uniform(key, 2 * i + 1) - 1);
        x[i] = kind == 0 ? 0 : kind == 1 ? rintf(254 * value) / 2 : ldexpf(value, 3 * kind - 16);
    }
    return x;
}

static product product_new(uint64_t key)
{
    static const size_t ks[] = {1, 31, 32, 33, 64, 65, 96, 200, 384, 385, 416, 768, 800};
    product p = {.m = 1 + (size_t)rng_below(key, 0, key % 3 ? 20 : 90), .n = 1 + (size_t)rng_below(key, 1, 150),
                 .k = ks[key % 13], .accumulates = key % 5 == 0};
    p.a = numbers(p.m * p.k, key + 100);
    p.w = numbers(p.n * p.k, key + 200);
    p.bias = numbers(p.n, key + 300);
    p.start = numbers(p.m * p.n, key + 400);
    p.want = aligned(p.m * p.n);
    p.c = aligned(p.m * p.n);
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = 0; j < p.n; j++) {
            p.want[i * p.n + j] = p.start[i * p.n + j];
            multiply(p.a + i * p.k, p.w + j * p.k, p.k, p.accumulates, p.bias + j, &p.want[i * p.n + j]);
        }
    return p;
}

static void product_free(product *p)
{
    float *all[] = {p->a, p->w, p->bias, p->start, p->want, p->c};
    for (size_t i = 0; i < 6; i++)
        free(all[i]);
}

/* Rows first .. first + m - 1, with packed weights or without. */
static void run(const product *p, const gemm_team *team, size_t first, size_t m, bool packed)
{
    const matrix w = {p->w, 1, (ptrdiff_t)p->k};
    float *panels = packed ? aligned(panels_size(team->gemm, p->k, p->n)) : NULL;
    if (packed)
        panels_pack(team->gemm, p->k, p->n, w, panels);
    memcpy(p->c, p->start, p->m * p->n * sizeof *p->c);
    gemm(team, &(gemm_job){.m = m, .n = p->n, .k = p->k, .a = {p->a + first * p->k, (ptrdiff_t)p->k, 1}, .b = w,
                           .packed = panels, .c = p->c + first * p->n,
                           .epilogue = {.accumulate = p->accumulates, .bias = p->bias}});
    if (memcmp(p->c + first * p->n, p->want + first * p->n, m * p->n * sizeof *p->c) != 0)
        fail_msg("%s: rows %zu to %zu of [%zu, %zu] of %zu products are others", team->kernels->name, first, first + m, p->m,
                 p->n, p->k);
    free(panels);
}

static void products_are_as_defined(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    for (int threads = 1; threads <= 3; threads++) {
        pool *threads_of = pool_new(threads, &err);
        const gemm_team team = {k->q8_0, k, threads_of, aligned(gemm_workspace_size(threads))};
        for (uint64_t key = 0; key < SHAPES; key++) {
            product p = product_new(key);
            run(&p, &team, 0, p.m, true);
            run(&p, &team, 0, p.m, false);
            run(&p, &team, p.m / 2, 1, true); /* alone: the same as beside others */
            product_free(&p);
        }
        free(team.workspace);
        pool_free(threads_of);
    }
}

/* More columns than a thread packs at once; ReLU. */
static void wide_products_are_as_defined(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    enum { M = 3, N = 3100, K = 400 };
    float *a = numbers(M * K, 1), *w = numbers(N * K, 2), *c = aligned(M * N);
    for (int threads = 1; threads <= 3; threads++) {
        pool *threads_of = pool_new(threads, &err);
        const gemm_team team = {k->q8_0, k, threads_of, aligned(gemm_workspace_size(threads))};
        const gemm_job job = {.m = M, .n = N, .k = K, .a = {a, K, 1}, .b = {w, 1, K}, .c = c, .epilogue.relu = true};
        gemm(&team, &job);
        for (size_t i = 0; i < M * N; i++) {
            float want;
            multiply(a + i / N * K, w + i % N * K, K, false, NULL, &want);
            if (c[i] != (want > 0 ? want : 0))
                fail_msg("element %zu: %g, not %g", i, (double)c[i], (double)want);
        }
        free(team.workspace);
        pool_free(threads_of);
    }
    free(a);
    free(w);
    free(c);
}

/* A number that is not finite is seen in all that it is multiplied with, and nowhere else. */
static void what_is_not_finite_stays_so(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    pool *threads_of = pool_new(1, &err);
    const gemm_team team = {k->q8_0, k, threads_of, aligned(gemm_workspace_size(1))};
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 6; i++) {
        product p = product_new(8);
        const size_t row = p.m / 2, column = p.n / 2;
        *(i < 3 ? &p.a[p.k * row + 40] : &p.w[p.k * column + 40]) = bad[i % 3];
        gemm(&team, &(gemm_job){.m = p.m, .n = p.n, .k = p.k, .a = {p.a, (ptrdiff_t)p.k, 1}, .b = {p.w, 1, (ptrdiff_t)p.k},
                                .c = p.c});
        for (size_t j = 0; j < p.m * p.n; j++)
            assert_true(isfinite(p.c[j]) == (i < 3 ? j / p.n != row : j % p.n != column));
        product_free(&p);
    }
    free(team.workspace);
    pool_free(threads_of);
}

static void edges_are_as_defined(void **state)
{
    wide_products_are_as_defined(state);
    what_is_not_finite_stays_so(state);
}

int main(void)
{
    struct CMUnitTest tests[2 * LEVELS_MOST] = {{0}};
    size_t count = levels_tests(tests, "products", products_are_as_defined, kernels_names);
    levels_tests(tests + count, "edges", edges_are_as_defined, kernels_names);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
