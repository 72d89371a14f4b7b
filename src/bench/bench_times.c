/* bench/bench_times.c: lists of measurements that grow. For the benchmarks. */
#include "bench/bench_times.h"

#include "base/buffer.h"

bool bench_times_add(bench_times *t, double value)
{
    if (!ARRAY_RESERVE(&t->values, &t->capacity, t->count + 1))
        return false;
    t->values[t->count++] = value;
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_times_at(bench_times *t, double share)
{
    if (t->count == 0)
        return 0;
    qsort(t->values, t->count, sizeof *t->values, by_value);
    size_t at = (size_t)(share * (double)t->count);
    return t->values[at < t->count ? at : t->count - 1];
}

double bench_times_sum(const bench_times *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += t->values[i];
    return sum;
}

void bench_times_free(bench_times *t)
{
    free(t->values);
    *t = (bench_times){0};
}
