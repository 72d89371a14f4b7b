/* tests/tensor/test_gemm.c: matrix products against sums in double precision with a bound for each element, and the
 * same bits for any number of threads, order of the operands, rows beside, and packed weights; in fp32 for any level too.
 * Products in bf16 get numbers that have no more digits than that: then the bound of fp32 holds for them.
 * labels: not-raced each-level arm-first sanitized-late */
#define _GNU_SOURCE
#define SERIAL_WORK 1 /* loops of any size go to the threads */
#include "base/pool.c" /* this copy takes the place of the library's */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tensor/gemm.h"

#include "aligned.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES 60 /* GEMM_SHAPES in the environment: fewer, for emulators; 8 have all kinds of m and n */
#define CANARY 40 /* numbers after C that nobody may touch */
#define U 0x1p-24

/* One product in all its forms. */
typedef struct product {
    size_t m, n, k;
    kernels_epilogue epilogue;
    rapt_real *a, *a_turned, *b, *b_turned, *bias; /* turned: stored by columns */
    rapt_real *start, *want, *c;                   /* C before, by the first run, and of the run that is checked */
    double *exact, *size;                          /* sums of products and of their absolute values */
} product;

static rapt_real *turned(const rapt_real *x, size_t rows, size_t columns)
{
    rapt_real *y = aligned_uniform(rows * columns, 0);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            y[j * rows + i] = x[i * columns + j];
    return y;
}

static void sum_exactly(product *p)
{
    p->exact = calloc(p->m * p->n, sizeof *p->exact);
    p->size = calloc(p->m * p->n, sizeof *p->size);
    assert_non_null(p->exact);
    assert_non_null(p->size);
    for (size_t i = 0; i < p->m; i++)
        for (size_t k = 0; k < p->k; k++)
            for (size_t j = 0; j < p->n; j++) {
                double term = (double)p->a[i * p->k + k] * (double)p->b[k * p->n + j];
                p->exact[i * p->n + j] += term;
                p->size[i * p->n + j] += fabs(term);
            }
}

/* Numbers of 8 binary digits in place of others: bf16 holds these. */
static void make_coarse(rapt_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (rapt_real)(nearbyint((double)x[i] * 128) / 128);
}

/* Odd sizes, and some at the edges of the K blocks. */
static product new_product(uint64_t key, bool coarse)
{
    static const size_t ks[] = {1, 2, 7, 16, 33, 100, 383, 384, 385, 767, 768, 769, 1153};
    product p = {.m = 1 + (size_t)rng_below(key, 0, key % 4 ? 40 : 150) + (key % 16 == 7 ? 560 : 0)};
    p.n = 1 + (size_t)rng_below(key, 1, key % 3 ? 50 : 420) + (key % 8 == 5 ? 512 : 0);
    p.k = ks[rng_below(key, 2, sizeof ks / sizeof *ks)];
    p.a = aligned_uniform(p.m * p.k, rng_mix(key, 1));
    p.b = aligned_uniform(p.k * p.n, rng_mix(key, 2));
    if (coarse) {
        make_coarse(p.a, p.m * p.k);
        make_coarse(p.b, p.k * p.n);
    }
    p.bias = aligned_uniform(p.n, rng_mix(key, 3));
    p.start = aligned_uniform(p.m * p.n, rng_mix(key, 4));
    p.want = aligned_uniform(p.m * p.n, 0);
    p.c = aligned_uniform(p.m * p.n + CANARY, 0);
    p.a_turned = turned(p.a, p.m, p.k);
    p.b_turned = turned(p.b, p.k, p.n);
    p.epilogue = (kernels_epilogue){key % 2, key % 5 < 2 ? p.bias : NULL, key % 7 < 3};
    sum_exactly(&p);
    return p;
}

static void free_product(product *p)
{
    rapt_real *all[] = {p->a, p->a_turned, p->b, p->b_turned, p->bias, p->start, p->want, p->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(p->exact);
    free(p->size);
}

#ifdef HAVE_AMX_IN_C
extern const kernels_gemm kernels_gemm_amx_in_c;
#define AMX_PACKS_WITH "avx512_bf16" /* whose words it uses */
#define AMX_IN_C "amx in C"
#else
#define AMX_PACKS_WITH "none"
#define AMX_IN_C "none"
#endif

/* The products of any level; for amx in C, only its packing is the level's own. */
static const kernels_gemm *products_of(const char *level, const kernels *k, bool bf16)
{
    (void)level;
#ifdef HAVE_AMX_IN_C
    if (strcmp(level, AMX_IN_C) == 0)
        return &kernels_gemm_amx_in_c;
#endif
    return bf16 ? k->bf16 : &k->gemm;
}

static gemm_team new_team(const char *level, bool bf16, int threads)
{
    rapt_error err = {0};
    const kernels *k = kernels_of_isa(strcmp(level, AMX_IN_C) == 0 ? AMX_PACKS_WITH : level, &err);
    gemm_team team = {.kernels = k, .pool = pool_new(threads, &err)};
    size_t bytes = gemm_workspace_size(threads) * sizeof(rapt_real);
    if (!team.kernels || !team.pool)
        fail_msg("%s", err.message);
    team.gemm = products_of(level, k, bf16);
    team.workspace = aligned_alloc(KERNELS_ALIGN, bytes);
    assert_non_null(team.workspace);
    memset(team.workspace, 0xff, bytes); /* NaN */
    return team;
}

static void free_team(gemm_team *team)
{
    pool_free(team->pool);
    free(team->workspace);
}

/* C is NaN where it must be overwritten. */
static void prepare(product *p)
{
    memset(p->c, 0xff, (p->m * p->n + CANARY) * sizeof *p->c);
    if (p->epilogue.accumulate)
        memcpy(p->c, p->start, p->m * p->n * sizeof *p->c);
}

static gemm_job whole_job(const product *p, bool turn_a, bool turn_b)
{
    ptrdiff_t m = (ptrdiff_t)p->m, n = (ptrdiff_t)p->n, k = (ptrdiff_t)p->k;
    return (gemm_job){.m = p->m, .n = p->n, .k = p->k, .c = p->c, .epilogue = p->epilogue,
                      .a = turn_a ? (matrix){p->a_turned, 1, m} : (matrix){p->a, k, 1},
                      .b = turn_b ? (matrix){p->b_turned, 1, k} : (matrix){p->b, n, 1}};
}

static void compare(const product *p, const char *what)
{
    for (size_t i = 0; i < p->m * p->n; i++)
        if (memcmp(&p->c[i], &p->want[i], sizeof *p->c) != 0)
            fail_msg("%zu x %zu x %zu, %s: element %zu is %a, not %a", p->m, p->n, p->k, what, i, (double)p->c[i],
                     (double)p->want[i]);
    for (size_t i = p->m * p->n; i < p->m * p->n + CANARY; i++)
        assert_true(isnan(p->c[i]));
}

static void check_orders(const gemm_team *team, product *p, const char *what)
{
    for (int order = 0; order < 4; order++) {
        gemm_job job = whole_job(p, order & 1, order & 2);
        prepare(p);
        gemm(team, &job);
        compare(p, what);
    }
}

static void check_packed(const gemm_team *team, product *p)
{
    rapt_real *panels = aligned_uniform(panels_size(team->gemm, p->k, p->n), 0);
    for (int turn = 0; turn < 2; turn++) {
        gemm_job job = whole_job(p, false, turn);
        panels_pack(team->gemm, p->k, p->n, &job.b, panels);
        job.packed = panels;
        job.b.data = NULL;
        prepare(p);
        gemm(team, &job);
        compare(p, "packed");
        prepare(p);
        for (job.m = 1; job.c < p->c + p->m * p->n; job.c += p->n, job.a = matrix_at(job.a, 1, 0))
            gemm(team, &job);
        compare(p, "packed, row by row");
    }
    free(panels);
}

/* Some rows at a time, and one at a time. */
static void check_rows(const gemm_team *team, product *p, size_t rows)
{
    prepare(p);
    for (size_t i = 0; i < p->m; i += rows) {
        gemm_job job = whole_job(p, false, false);
        job.m = rows < p->m - i ? rows : p->m - i;
        job.a = matrix_at(job.a, i, 0);
        job.c += i * p->n;
        gemm(team, &job);
    }
    compare(p, "in parts");
}

/* The K blocks as products that continue each other, beside a product of other sizes. */
static void check_continued(const gemm_team *team, product *p)
{
    gemm_job jobs[GEMM_MAX_JOBS], other = whole_job(p, true, false);
    size_t count = 0;
    rapt_real *beside = aligned_uniform(p->m * p->n, 0);
    if (p->epilogue.bias || p->epilogue.relu)
        return free(beside);
    for (size_t k = 0; k < p->k; k += KERNELS_K_BLOCK) {
        jobs[count] = whole_job(p, count % 2, count % 3 == 1);
        jobs[count].a = matrix_at(jobs[count].a, 0, k);
        jobs[count].b = matrix_at(jobs[count].b, k, 0);
        jobs[count].k = k + KERNELS_K_BLOCK < p->k ? KERNELS_K_BLOCK : p->k - k;
        jobs[count++].accumulates_into_previous = k > 0;
    }
    other.c = beside;
    other.m = (p->m + 1) / 2;
    memcpy(beside, p->start, p->m * p->n * sizeof *beside);
    jobs[count++] = other;
    prepare(p);
    gemm_all(team, jobs, count);
    compare(p, "continued");
    assert_memory_equal(beside, p->want, other.m * p->n * sizeof *beside);
    free(beside);
}

typedef struct halving {
    rapt_real *c;
    unsigned char *seen;
} halving;

static void halve(const kernels *k, const void *context, size_t at, size_t n)
{
    const halving *h = context;
    (void)k;
    for (size_t i = at; i < at + n; i++) {
        h->c[i] *= (rapt_real)0.5; /* exact */
        h->seen[i]++;
    }
}

/* Every number is handed over once, when it is done. */
static void check_after(const gemm_team *team, product *p)
{
    gemm_job job = whole_job(p, false, true);
    halving h = {p->c, calloc(p->m * p->n, 1)};
    assert_non_null(h.seen);
    job.epilogue_fn = halve;
    job.context = &h;
    prepare(p);
    gemm(team, &job);
    for (size_t i = 0; i < p->m * p->n; i++) {
        assert_int_equal(h.seen[i], 1);
        p->c[i] *= 2;
    }
    compare(p, "handed over");
    free(h.seen);
}

/* C in columns, as products beside each other. */
static void check_columns(const gemm_team *team, product *p)
{
    const size_t first = p->n > 16 ? p->n / 32 * 16 : p->n / 2;
    halving h = {p->c, calloc(p->m * p->n, 1)};
    halving shifted = {p->c + first, h.seen + first};
    gemm_job jobs[2] = {whole_job(p, false, false), whole_job(p, true, true)};
    assert_non_null(h.seen);
    for (int i = 0; i < 2; i++) {
        jobs[i].n = i == 0 ? first : p->n - first;
        jobs[i].b = matrix_at(jobs[i].b, 0, i * first);
        jobs[i].c += i * first;
        jobs[i].ldc = p->n;
        jobs[i].epilogue.bias = p->epilogue.bias ? p->epilogue.bias + i * first : NULL;
        jobs[i].epilogue_fn = halve;
        jobs[i].context = i == 0 ? &h : &shifted;
    }
    prepare(p);
    gemm_all(team, first > 0 ? jobs : jobs + 1, first > 0 ? 2 : 1);
    for (size_t i = 0; i < p->m * p->n; i++) {
        assert_int_equal(h.seen[i], 1);
        p->c[i] *= 2;
    }
    compare(p, "in columns");
    free(h.seen);
}

/* The first run, of the scalar level or of products in bf16, is held to the bound; everything else to its bits. */
static double check_bound(const gemm_team *team, product *p)
{
    double worst = 0;
    gemm_job job = whole_job(p, false, false);
    prepare(p);
    gemm(team, &job);
    memcpy(p->want, p->c, p->m * p->n * sizeof *p->c);
    for (size_t i = 0; i < p->m * p->n; i++) {
        double bias = p->epilogue.bias ? (double)p->bias[i % p->n] : 0;
        double before = p->epilogue.accumulate ? (double)p->start[i] : 0;
        double exact = p->exact[i] + before + bias;
        exact = p->epilogue.relu && exact < 0 ? 0 : exact;
        double bound = ((double)p->k + 4) * U * (p->size[i] + fabs(bias) + fabs(before));
        double error = fabs((double)p->c[i] - exact);
        if (!(error <= bound))
            fail_msg("%zu x %zu x %zu: element %zu is off by %g, allowed are %g", p->m, p->n, p->k, i, error, bound);
        worst = error / bound > worst ? error / bound : worst;
    }
    return worst;
}

static void check_level(const char *level, bool bf16, product *p)
{
    static const int threads[] = {1, 2, 3, 7};
    for (size_t i = 0; i < 4; i++) {
        gemm_team team = new_team(level, bf16, threads[i]);
        check_orders(&team, p, level);
        check_packed(&team, p);
        check_continued(&team, p);
        check_after(&team, p);
        check_columns(&team, p);
        if (threads[i] < 3) {
            check_rows(&team, p, 1);
            check_rows(&team, p, 5);
            check_rows(&team, p, p->m / 2 + 1);
        }
        free_team(&team);
    }
}

/* Levels that differ in bf16 alone have the fp32 kernels of another. */
static bool has_own_fp32(const char *level)
{
    const kernels *k = kernels_of_isa(level, NULL);
    return k && strcmp(level, "scalar") != 0 && strcmp(level, "avx512_bf16") != 0 && strcmp(level, "amx") != 0;
}

static uint64_t shapes(void)
{
    const char *fewer = getenv("GEMM_SHAPES");
    const uint64_t count = fewer ? strtoull(fewer, NULL, 10) : SHAPES;
    assert_in_range(count, 1, SHAPES);
    return count;
}

static void products(void **state)
{
    double worst = 0;
    (void)state;
    gemm_team scalar = new_team("scalar", false, 1);
    for (uint64_t key = 0; key < shapes(); key++) {
        product p = new_product(key, false);
        worst = fmax(worst, check_bound(&scalar, &p));
        for (const char *const *level = kernels_names; *level; level++)
            if (has_own_fp32(*level) || (key < 8 && strcmp(*level, "scalar") == 0))
                check_level(*level, false, &p);
        free_product(&p);
    }
    print_message("  at most %.2g of the error bound\n", worst);
    for (const char *const *level = kernels_names; *level; level++)
        if (!kernels_of_isa(*level, NULL))
            print_message("  level %s: not to be had here, skipped\n", *level);
    free_team(&scalar);
}

static double check_bf16(const char *level, uint64_t count)
{
    double worst = 0;
    gemm_team one = new_team(level, true, 1);
    for (uint64_t key = 0; key < count; key++) {
        product p = new_product(key, true);
        worst = fmax(worst, check_bound(&one, &p));
        check_level(level, true, &p);
        free_product(&p);
    }
    free_team(&one);
    return worst;
}

static void products_in_bf16(void **state)
{
    double worst = 0;
    (void)state;
    for (const char *const *level = kernels_names; *level; level++)
        if (kernels_of_isa(*level, NULL))
            worst = fmax(worst, check_bf16(*level, strcmp(*level, "scalar") == 0 ? 8 : shapes()));
    if (kernels_of_isa(AMX_PACKS_WITH, NULL))
        worst = fmax(worst, check_bf16(AMX_IN_C, 8));
    else
        print_message("  amx in C: needs %s, skipped\n", AMX_PACKS_WITH);
    print_message("  at most %.2g of the error bound\n", worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(products_in_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
