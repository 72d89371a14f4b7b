/* bench/bench_workload.h: the workloads of `rapt-bench train`: the cases of the comparisons with other systems, on random
 * data, with the same shapes, batch, dropout, optimizer and clipping. */
#ifndef BENCH_BENCH_WORKLOAD_H
#define BENCH_BENCH_WORKLOAD_H

#include "bench/bench.h"
#include "rapt/nn.h"
#include "rapt/train.h"

#define WORKLOAD_POOL 8 /* batches that take turns */

typedef struct workload workload;
struct workload {
    const char *name;
    size_t batch, time, layers, width, vocab;
    double flops; /* FLOPs of the GEMMs of one step: three times the FLOPs of a forward pass */
    double lr, weight_decay;
    bool recompute; /* see rapt_pass */
    rapt_params *params;
    void *own;
    /* Begins a pass and computes the loss of step `number`. */
    rapt_tensor *(*loss)(workload *w, rapt_tape *t, uint64_t number);
    size_t (*tokens)(const workload *w, uint64_t number); /* labels that count */
    void (*free)(workload *w);
};

/* Each fills *w for a case that it knows, with the sizes that are given in place of the case's own, and returns
 * RAPT_ERR_NOT_FOUND for other cases. */
rapt_code workload_sentences(const char *name, const bench_sizes *sizes, workload *w, rapt_error *err); /* a1, a2, a3 */
rapt_code workload_windows(const char *name, const bench_sizes *sizes, workload *w, rapt_error *err); /* a4n, ..., a6, long */

/* The model of a1, a2 or a3. */
rapt_code workload_translation(const char *name, const bench_sizes *sizes, rapt_transformer_config *config, rapt_error *err);

/* `count` ids from `first` to vocab - 1, from malloc; NULL: out of memory. */
int32_t *workload_ids(size_t count, uint64_t key, size_t first, size_t vocab);

#endif
