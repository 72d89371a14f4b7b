/* cli/bench.h: the three benchmarks, and how they report. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "rapt/tape.h"

typedef struct bench_options {
    const char *case_name; /* NULL: a1 */
    int threads;
    double seconds; /* measured, for each case */
    rapt_precision precision;
    bool json, profile;
    const char *tokenizer, *text; /* of `tokenizer` */
} bench_options;

rapt_code bench_kernels(const bench_options *o, rapt_error *err);
rapt_code bench_train(const bench_options *o, rapt_error *err);
rapt_code bench_tokenizer(const bench_options *o, rapt_error *err);

/* GFLOP/s of fused multiply-adds on `threads` threads with all operands in registers or the first cache: what the
 * machine can do at most. */
double bench_peak(int threads, rapt_error *err);

#endif
