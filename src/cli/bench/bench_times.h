/* cli/bench/bench_times.h: a list of measured times or rates, of which medians and the like are taken. */
#ifndef CLI_BENCH_BENCH_TIMES_H
#define CLI_BENCH_BENCH_TIMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_times {
    double *values;
    size_t count, capacity;
} bench_times;

bool bench_times_add(bench_times *t, double value); /* false: out of memory */
/* The value that this share of the list lies below: 0.5 is the median, 1 the largest. Sorts the list; 0 of an empty one. */
double bench_times_at(bench_times *t, double share);
double bench_times_sum(const bench_times *t);
void bench_times_free(bench_times *t);

#endif
