/* cli/bench_peak.c: the machine's peak, measured with the micro-kernel itself on operands that stay in the first
 * cache: the share of it that whole operations reach is what blocking, packing and threading cost. */
#include "cli/bench.h"

#include "base/clock.h"
#include "base/pool.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#define PEAK_K 128     /* both panels together are below 24 KiB */
#define PEAK_TILES 200 /* between two looks at the clock */
#define PEAK_SECONDS 0.05
#define PEAK_TRIES 5

typedef struct peak_loop {
    const kernels *k;
    double rate[256];
} peak_loop;

static double measure(const kernels *k)
{
    _Alignas(KERNELS_ALIGN) rapt_real a[PEAK_K * KERNELS_MAX_MR], b[PEAK_K * KERNELS_MAX_NR];
    _Alignas(KERNELS_ALIGN) rapt_real c[KERNELS_MAX_MR * KERNELS_MAX_NR];
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    const kernels_gemm *g = &k->gemm;
    double start = clock_seconds(), now = start;
    size_t tiles = 0;
    for (; now - start < PEAK_SECONDS; now = clock_seconds(), tiles += PEAK_TILES)
        for (int i = 0; i < PEAK_TILES; i++)
            g->gemm_tile(g->mr, g->nr, PEAK_K, a, 1, g->a_stride, b, g->nr, c, g->nr, &(kernels_tail){0});
    return 2.0 * PEAK_K * g->mr * g->nr * (double)tiles / (now - start) * 1e-9;
}

static void run(void *context, size_t chunk, int worker)
{
    peak_loop *loop = context;
    (void)worker;
    loop->rate[chunk] = measure(loop->k);
}

double bench_peak(int threads, rapt_error *err)
{
    peak_loop loop = {.k = kernels_active(err)};
    pool *p = loop.k ? pool_new(threads, err) : NULL;
    double best = 0;
    for (int i = 0; p && i < PEAK_TRIES; i++) {
        double sum = 0;
        pool_run(p, (size_t)pool_threads(p), SIZE_MAX, run, &loop);
        for (int j = 0; j < pool_threads(p); j++)
            sum += loop.rate[j];
        best = fmax(best, sum);
    }
    pool_free(p);
    return best;
}
