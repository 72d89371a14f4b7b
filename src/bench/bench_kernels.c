/* bench/bench_kernels.c: GFLOP/s of matrix products on ten Transformer shapes, and the machine's measured peak. */
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/machine_peak.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tensor/gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURSTS 5
#define BURST_SECONDS 0.15

typedef struct shape {
    size_t m, n, k;
} shape;

static const shape SHAPES[] = {{2048, 512, 512}, {2048, 2048, 512}, {2048, 512, 2048}, {4096, 128, 128},
                               {4096, 256, 128}, {768, 384, 384},   {16384, 1536, 384}, {1024, 1024, 1024},
                               {64, 512, 512},   {4096, 10000, 128}};
#define SHAPE_COUNT (sizeof SHAPES / sizeof *SHAPES)

static const char *const FORMS[] = {"NT", "NN", "TN"};

typedef struct gemm_case {
    gemm_team team;
    rapt_real *x, *w, *dy, *out;
    double burst_seconds;
} gemm_case;

/* What the run adds up for its means: logarithms of the rates of each form, and the number of shapes. */
typedef struct sums {
    double logs[3];
    int shapes;
} sums;

static bool is_wanted_shape(const bench_options *o, shape s)
{
    char name[64];
    snprintf(name, sizeof name, "%zux%zux%zu", s.m, s.n, s.k);
    return !o->case_name || strcmp(o->case_name, name) == 0;
}

static rapt_real *random_matrix(size_t rows, size_t columns)
{
    const size_t bytes = (rows * columns * sizeof(rapt_real) + KERNELS_ALIGN - 1) / KERNELS_ALIGN * KERNELS_ALIGN;
    rapt_real *a = memory_aligned(KERNELS_ALIGN, bytes);
    for (size_t i = 0; a && i < rows * columns; i++)
        a[i] = (rapt_real)(i * 2654435761u % 65536) / 65536 - (rapt_real)0.5;
    return a;
}

/* Y = X W^T, dX = dY W, dW += dY^T X. */
static gemm_job job_of(const gemm_case *p, shape s, int form)
{
    ptrdiff_t n = (ptrdiff_t)s.n, k = (ptrdiff_t)s.k;
    switch (form) {
    case 0: return (gemm_job){.m = s.m, .n = s.n, .k = s.k, .a = {p->x, k, 1}, .b = {p->w, 1, k}, .c = p->out};
    case 1: return (gemm_job){.m = s.m, .n = s.k, .k = s.n, .a = {p->dy, n, 1}, .b = {p->w, k, 1}, .c = p->out};
    default: return (gemm_job){.m = s.n, .n = s.k, .k = s.m, .a = {p->dy, 1, n}, .b = {p->x, k, 1}, .c = p->out,
                               .epilogue = {.accumulate = true}};
    }
}

static double run_burst(const gemm_case *p, const gemm_job *job)
{
    double start = clock_seconds(), now = start;
    size_t count = 0;
    for (; now - start < p->burst_seconds; now = clock_seconds(), count++)
        gemm(&p->team, job);
    return 2.0 * (double)job->m * (double)job->n * (double)job->k * (double)count / (now - start) * 1e-9;
}

static double best_gemm_rate(const gemm_case *p, shape s, int form)
{
    gemm_job job = job_of(p, s, form);
    double best = 0;
    gemm(&p->team, &job);
    for (int i = 0; i < BURSTS; i++)
        best = fmax(best, run_burst(p, &job));
    return best;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool bench_kernels_allocate(gemm_case *p, shape s)
{
    p->x = random_matrix(s.m, s.k);
    p->w = random_matrix(s.n, s.k);
    p->dy = random_matrix(s.m, s.n);
    p->out = random_matrix(1, max_size(s.m * s.n, max_size(s.m * s.k, s.n * s.k)));
    return p->x && p->w && p->dy && p->out;
}

static void bench_kernels_release(gemm_case *p)
{
    memory_aligned_free(p->x);
    memory_aligned_free(p->w);
    memory_aligned_free(p->dy);
    memory_aligned_free(p->out);
}

static void bench_kernels_print_row(const bench_options *o, shape s, int form, double rate, double peak, int threads)
{
    if (o->json)
        printf("{\"sys\": \"rapt\", \"dtype\": \"%s\", \"threads\": %d, \"form\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu, "
               "\"gflops\": %.1f, \"peak_share\": %.3f}\n", bench_precision(o), threads, FORMS[form], s.m, s.n, s.k, rate,
               rate / peak);
    else
        printf("%s  %5zu x %5zu x %4zu  %7.1f GFLOP/s  %3.0f %% of peak\n", FORMS[form], s.m, s.n, s.k, rate, 100 * rate / peak);
    fflush(stdout);
}

static rapt_code run_shape(gemm_case *p, const bench_options *o, shape s, double peak, sums *all, rapt_error *err)
{
    bool ok = bench_kernels_allocate(p, s);
    for (int form = 0; ok && form < 3; form++) {
        double rate = best_gemm_rate(p, s, form);
        all->logs[form] += log(rate);
        bench_kernels_print_row(o, s, form, rate, peak, pool_threads(p->team.pool));
    }
    all->shapes++;
    bench_kernels_release(p);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the matrices");
}

static rapt_code run_shapes(gemm_case *p, const bench_options *o, double peak, sums *all, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < SHAPE_COUNT && !code; i++)
        if (is_wanted_shape(o, SHAPES[i]))
            code = run_shape(p, o, SHAPES[i], peak, all, err);
    return code;
}

static rapt_code check_case(const bench_options *o, rapt_error *err)
{
    for (size_t i = 0; i < SHAPE_COUNT; i++)
        if (is_wanted_shape(o, SHAPES[i]))
            return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "there is no case \"%.40s\"; the first is 2048x512x512", o->case_name);
}

static void print_means(const bench_options *o, const sums *all, double peak, int threads)
{
    double mean[3];
    for (int form = 0; form < 3; form++)
        mean[form] = exp(all->logs[form] / all->shapes);
    if (o->json)
        printf("{\"sys\": \"rapt\", \"dtype\": \"%s\", \"threads\": %d, \"peak\": %.1f, "
               "\"geomean\": {\"NT\": %.1f, \"NN\": %.1f, \"TN\": %.1f}}\n",
               bench_precision(o), threads, peak, mean[0], mean[1], mean[2]);
    else
        printf("geometric means: NT %.1f, NN %.1f, TN %.1f GFLOP/s; measured peak %.1f on %d thread%s\n", mean[0], mean[1],
               mean[2], peak, threads, cli_plural((size_t)threads));
}

static rapt_code make_team(gemm_case *p, const bench_options *o, rapt_error *err)
{
    p->team.kernels = kernels_active(err);
    if (p->team.kernels)
        p->team.gemm = o->precision == RAPT_TYPE_BF16 ? p->team.kernels->bf16 : &p->team.kernels->gemm;
    p->team.pool = p->team.kernels ? pool_new(o->threads, err) : NULL;
    if (!p->team.pool)
        return RAPT_ERR_MEMORY;
    size_t bytes = gemm_workspace_size(pool_threads(p->team.pool)) * sizeof(rapt_real);
    p->team.workspace = memory_aligned(KERNELS_ALIGN, bytes);
    return p->team.workspace ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the workspace");
}

rapt_code bench_kernels(const bench_options *o, rapt_error *err)
{
    gemm_case p = {.burst_seconds = o->seconds > 0 ? o->seconds / BURSTS : BURST_SECONDS};
    sums all = {0};
    if (check_case(o, err))
        return err->code;
    double peak = machine_peak(o->threads, o->precision, err);
    rapt_code code = make_team(&p, o, err);
    if (!code)
        code = run_shapes(&p, o, peak, &all, err);
    if (!code)
        print_means(o, &all, peak, pool_threads(p.team.pool));
    memory_aligned_free(p.team.workspace);
    pool_free(p.team.pool);
    return code;
}
