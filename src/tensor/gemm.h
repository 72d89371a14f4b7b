/* tensor/gemm.h: C = A B on all threads. Splits the output into tasks, never a sum, so that the bits depend neither on the
 * threads nor on the number of rows that are multiplied at once. */
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include "base/pool.h"
#include "rapt/tensor.h"
#include "tensor/panels.h"

/* The kernels, the threads, and the packing memory of each thread. */
typedef struct gemm_team {
    const kernels_gemm *gemm;
    const kernels *kernels; /* for gemm_epilogue_fn */
    pool *pool;
    rapt_real *workspace; /* gemm_workspace_size() elements, aligned to KERNELS_ALIGN */
} gemm_team;

size_t gemm_workspace_size(int threads); /* elements */
/* The GEMM_OWN elements of the workspace that a thread may use between two GEMMs. */
#define GEMM_OWN ((size_t)384 * KERNELS_K_BLOCK)
rapt_real *gemm_own(const gemm_team *team, int worker);

/* Called on elements at .. at + n - 1 of C as soon as they are complete, while they are in the cache. */
typedef void gemm_epilogue_fn(const kernels *k, const void *context, size_t at, size_t n);

typedef struct gemm_job {
    size_t m, n, k; /* > 0 */
    matrix a, b;
    const rapt_real *packed; /* B packed by panels_pack, or NULL */
    const rapt_param *stored; /* B is the transpose of this parameter, whose stored blocks the kernels take unchanged; each task
                                 packs its columns. Not beside jobs whose B is b, which gemm_all packs into the same memory.
                                 NULL: b or `packed` is B */
    const rapt_real *rounded; /* A, already packed for quantized weights, [K blocks][m][a_row]; NULL: gemm_all packs it */
    rapt_real *c;            /* row-major; `at` of epilogue_fn counts from here */
    size_t ldc;              /* elements from a row of C to the next; 0: n */
    kernels_epilogue epilogue;
    bool accumulates_into_previous; /* adds to the C of the previous job, which has the same m and n, in the same tasks; without
                                       bias or ReLU */
    gemm_epilogue_fn *epilogue_fn; /* or NULL; only the last of the jobs that accumulate into one C has one */
    const void *context;     /* argument of epilogue_fn */
} gemm_job;

/* Runs one job. */
void gemm(const gemm_team *team, const gemm_job *job);

/* Stored blocks are packed in pieces: columns at a time, whole panels of every kernel, and the most packed numbers that a column
 * of a K block has. A piece stays in the L1 cache. */
#define GEMM_PIECE ((size_t)KERNELS_MAX_NR)
#define GEMM_PIECE_ROW ((size_t)KERNELS_K_BLOCK / 3)

#define GEMM_MAX_JOBS 6
/* Runs up to GEMM_MAX_JOBS products concurrently, which keeps all threads busy if each is small. Their C must not overlap, except
 * for jobs that accumulate into the previous one. */
void gemm_all(const gemm_team *team, const gemm_job *jobs, size_t count);

#endif
