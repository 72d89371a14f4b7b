/* tensor/gemm.h: C = A B on all threads. Splits the output into fixed tasks, never the sum, so that the bits
 * depend neither on the threads nor on how many rows are multiplied at once. */
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include "base/pool.h"
#include "tensor/panels.h"

/* Who does the work: kernels, threads, and packing memory for each thread. */
typedef struct gemm_team {
    const kernels_gemm *gemm;
    const kernels *kernels; /* for gemm_epilogue_fn */
    pool *pool;
    rapt_real *workspace; /* gemm_workspace_size() numbers, aligned to KERNELS_ALIGN */
} gemm_team;

size_t gemm_workspace_size(int threads); /* numbers */
/* The GEMM_OWN elements of it that a thread may use between products. */
#define GEMM_OWN ((size_t)384 * KERNELS_K_BLOCK)
rapt_real *gemm_own(const gemm_team *team, int worker);

/* Called on numbers at .. at + n - 1 of C as soon as they are done, while they are still near. */
typedef void gemm_epilogue_fn(const kernels *k, const void *context, size_t at, size_t n);

typedef struct gemm_job {
    size_t m, n, k; /* > 0 */
    matrix a, b;
    const rapt_real *packed; /* B packed by panels_pack, or NULL */
    rapt_real *c;            /* row-major, ldc = n */
    kernels_epilogue epilogue;
    bool accumulates_into_previous; /* adds to the C of the job before, of the same m and n, in the same tasks; no bias or ReLU */
    gemm_epilogue_fn *epilogue_fn; /* or NULL; of jobs that continue each other, the last one's */
    const void *context;     /* of `after` */
} gemm_job;

void gemm(const gemm_team *team, const gemm_job *job);

#define GEMM_MAX_JOBS 6
/* Up to GEMM_MAX_JOBS products side by side, which keep all threads busy where they are small. They write to different
 * places, but for those that continue the one before. */
void gemm_all(const gemm_team *team, const gemm_job *jobs, size_t count);

#endif
