/* tests/tensor/test_widened_weights.c: products of weights that are stored in 16 bits equal products of the same numbers in fp32,
 * bit for bit, for any level, number of threads, rows and packing of the other operand.
 * labels: not-raced levels arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tensor/gemm.h"

#include "aligned.h"
#include "kernels/half.h"
#include "levels.h"

#include <stdlib.h>

enum { SHAPES = 60, TEAMS = 3 }; /* of 1, 2 and 3 threads */

/* Numbers of 16 bits, subnormal ones among them: of bf16 those below 2^5, of binary16 all that are finite. */
static float *weights_of(size_t count, uint64_t key, bool bf16)
{
    float *x = aligned(count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)rng_below(key, i, 0x10000);
        const uint32_t exponent = bits >> 7 & 31 ? 100 + (bits >> 7 & 31) : 0;
        x[i] = bf16 ? bf16_to_float((bits & 0x807f) | exponent << 7)
                    : half_to_float((bits & 0x7c00) == 0x7c00 ? bits & 0x83ff : bits);
    }
    return x;
}

typedef struct product {
    size_t m, n, k;
    float *a, *w, *bias, *start, *want, *got; /* a [m, k], w [n, k] */
    ptrdiff_t row, col;                       /* strides of a */
    bool accumulates;
} product;

static product product_new(uint64_t key, bool bf16)
{
    static const size_t ks[] = {2, 6, 32, 64, 96, 200, 384, 386, 416, 768, 800, 1600};
    product p = {.m = 1 + (size_t)rng_below(key, 0, key % 3 ? 20 : 90), .n = 1 + (size_t)rng_below(key, 1, 150),
                 .k = ks[key % 12], .accumulates = key % 5 == 0};
    p.a = aligned_uniform(p.m * p.k, key + 100);
    p.w = weights_of(p.n * p.k, key + 200, bf16);
    p.bias = aligned_uniform(p.n, key + 300);
    p.start = aligned_uniform(p.m * p.n, key + 400);
    p.want = aligned(p.m * p.n);
    p.got = aligned(p.m * p.n);
    p.row = key % 4 ? (ptrdiff_t)p.k : 1;
    p.col = key % 4 ? 1 : (ptrdiff_t)p.m;
    return p;
}

static void product_free(product *p)
{
    float *all[] = {p->a, p->w, p->bias, p->start, p->want, p->got};
    for (size_t i = 0; i < 6; i++)
        free(all[i]);
}

/* Rows first .. first + m - 1 with packed weights. */
static void run(const product *p, const gemm_team *team, size_t first, size_t m, float *c)
{
    float *panels = aligned(panels_size(team->gemm, p->k, p->n));
    panels_pack(team->gemm, p->k, p->n, &(matrix){p->w, 1, (ptrdiff_t)p->k}, panels);
    memcpy(c, p->start, p->m * p->n * sizeof *c);
    gemm(team, &(gemm_job){.m = m, .n = p->n, .k = p->k, .a = {p->a + (ptrdiff_t)first * p->row, p->row, p->col},
                           .b = {p->w, 1, (ptrdiff_t)p->k}, .packed = panels, .c = c + first * p->n,
                           .epilogue = {.accumulate = p->accumulates, .bias = p->bias}});
    free(panels);
}

static void compare(const product *p, const gemm_team *exact, const gemm_team *widened, size_t first, size_t m)
{
    run(p, exact, first, m, p->want);
    run(p, widened, first, m, p->got);
    if (memcmp(p->got, p->want, p->m * p->n * sizeof *p->got) != 0)
        fail_msg("%s, %s: rows %zu to %zu of [%zu, %zu] of %zu products are others", widened->kernels->name, widened->gemm->name,
                 first, first + m, p->m, p->n, p->k);
}

static void products_are_those_of_fp32(void **state)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(levels_wanted(state), &err);
    for (int threads = 1; threads <= TEAMS; threads++) {
        pool *threads_of = pool_new(threads, &err);
        const gemm_team exact = {&k->gemm, k, threads_of, aligned(gemm_workspace_size(threads))};
        for (uint64_t i = 0; i < 2 * SHAPES; i++) {
            product p = product_new(i / 2, i % 2);
            gemm_team widened = exact;
            widened.gemm = i % 2 ? k->bf16_weights : k->f16_weights;
            compare(&p, &exact, &widened, 0, p.m);
            compare(&p, &exact, &widened, p.m / 2, 1);
            product_free(&p);
        }
        free(exact.workspace);
        pool_free(threads_of);
    }
}

/* Half of the memory. */
static void panels_are_half(void **state)
{
    (void)state;
    const kernels *k = kernels_active(NULL);
    assert_int_equal(2 * panels_size(k->bf16_weights, 768, 320), panels_size(&k->gemm, 768, 320));
    assert_int_equal(2 * panels_size(k->f16_weights, 768, 320), panels_size(&k->gemm, 768, 320));
}

int main(void)
{
    struct CMUnitTest tests[2 * LEVELS_MOST] = {{0}};
    size_t count = levels_tests(tests, "products", products_are_those_of_fp32, kernels_names);
    tests[count] = (struct CMUnitTest)cmocka_unit_test(panels_are_half);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
