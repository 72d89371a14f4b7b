/* cli/machine_peak.c: the machine's peak, measured with the micro-kernel itself on operands that stay in the first cache: how
 * far whole operations stay below it is the cost of blocking, packing and threading. */
#include "cli/machine_peak.h"

#include "base/clock.h"
#include "base/pool.h"
#include "tape/tape_core.h"

#include <math.h>

#define PEAK_NUMBERS 128   /* along K: both panels together are below 24 KiB */
#define PEAK_QUANTIZED 256 /* products along K of quantized weights: their panels also stay below 24 KiB */
#define PEAK_TILES 200   /* between two reads of the clock */
#define PEAK_SECONDS 0.05
#define PEAK_TRIES 5

typedef struct peak_loop {
    const kernels_gemm *products;
    double rate[256];
} peak_loop;

static double machine_peak_measure(const kernels_gemm *g)
{
    _Alignas(KERNELS_ALIGN) rapt_real zeros[KERNELS_MAX_MR * 2 * PEAK_NUMBERS] = {0}, a[KERNELS_MAX_A];
    _Alignas(KERNELS_ALIGN) rapt_real b[PEAK_NUMBERS * KERNELS_MAX_NR] = {0}, c[KERNELS_MAX_MR * KERNELS_MAX_NR];
    size_t k = g->a_row ? PEAK_QUANTIZED : (size_t)(PEAK_NUMBERS * g->pair), tiles = 0;
    kernels_strides at = g->pack_a(g->mr, k, zeros, 1, g->mr, a);
    if (g->begin)
        g->begin();
    double start = clock_seconds(), now = start;
    for (; now - start < PEAK_SECONDS; now = clock_seconds(), tiles += PEAK_TILES)
        for (int i = 0; i < PEAK_TILES; i++)
            g->gemm_tile(g->mr, g->nr, kernels_packed_count(g, k), a, at.row, at.col, b, g->nr, c, g->nr, &(kernels_epilogue){0});
    if (g->end)
        g->end();
    return 2.0 * (double)k * g->mr * g->nr * (double)tiles / (now - start) * 1e-9;
}

static void machine_peak_run(void *context, size_t chunk, int worker)
{
    peak_loop *loop = context;
    (void)worker;
    loop->rate[chunk] = machine_peak_measure(loop->products);
}

double machine_peak(int threads, rapt_type precision, rapt_error *err)
{
    const kernels *k = kernels_active(err);
    peak_loop loop = {.products = k ? tape_gemm_of(k, precision) : NULL};
    pool *p = k ? pool_new(threads, err) : NULL;
    double best = 0;
    for (int i = 0; p && i < PEAK_TRIES; i++) {
        double sum = 0;
        pool_run(p, (size_t)pool_threads(p), SIZE_MAX, machine_peak_run, &loop);
        for (int j = 0; j < pool_threads(p); j++)
            sum += loop.rate[j];
        best = fmax(best, sum);
    }
    pool_free(p);
    return best;
}
