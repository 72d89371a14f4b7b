/* bench/bench.h: the benchmarks, and how they report. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "rapt/recipe.h"
#include "rapt/tape.h"

#include <jansson.h>

/* Sizes that replace a case's own; 0: as the case has it. Heads keep their features and the feed-forward network its
 * proportion when the width changes. */
typedef struct bench_sizes {
    size_t layers, width, vocab, batch, time, prompt;
} bench_sizes;

typedef struct bench_options {
    const char *case_name; /* NULL: the first one */
    bench_sizes sizes;
    int threads;
    double seconds; /* measured, for each case; 0: the benchmark's own default */
    rapt_type precision;
    const char *weights; /* as --weights has it, or NULL */
    rapt_type kv_cache; /* of `decode` */
    size_t beam;    /* `decode`; 0: 1, then 4 */
    bool json, profile, recompute;
    rapt_recipe_optimizer optimizer;        /* of `train` */
    bool gradients_bf16, release_gradients; /* of `train` */
    const char *tokenizer, *text; /* `tokenizer` */
    const char *model;            /* `decode`; NULL: random weights */
    size_t elements, ranks; /* `group`; 0: the default, one rank */
    const char *recipe;     /* `group`; NULL: no training steps */
} bench_options;

rapt_code bench_kernels(const bench_options *o, rapt_error *err);
rapt_code bench_train(const bench_options *o, rapt_error *err);
rapt_code bench_decode(const bench_options *o, rapt_error *err);
rapt_code bench_tokenizer(const bench_options *o, rapt_error *err);
/* Joins the processes that mpirun has started, if so; returns the exit status. */
int bench_group(const bench_options *o);

/* `wanted`, or `own` if `wanted` is 0. */
size_t bench_size(size_t wanted, size_t own);
/* RAPT_ERR_VALUE if a width of a case is not a multiple of the heads' `features`. */
rapt_code bench_check_width(const char *case_name, size_t width, size_t features, rapt_error *err);
const char *bench_precision(const bench_options *o); /* "fp32" or "bf16", or the value of --weights */
size_t bench_peak_memory(void); /* the peak of this process so far, MB */

/* Prints an object in one line. NULL: out of memory. */
rapt_code bench_print_json(const json_t *o, rapt_error *err);
double bench_number(const json_t *o, const char *key);

#endif
