/* bench/bench_times.h: a list of measured times or rates, for medians and other quantiles. */
#ifndef BENCH_BENCH_TIMES_H
#define BENCH_BENCH_TIMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_times {
    double *values;
    size_t count, capacity;
} bench_times;

bool bench_times_add(bench_times *t, double value); /* false: out of memory */
/* The quantile at `share`: 0.5 is the median, 1 the largest value. Sorts the list. 0 for an empty list. */
double bench_times_at(bench_times *t, double share);
double bench_times_sum(const bench_times *t);
void bench_times_free(bench_times *t);

#endif
