/* bench/bench_exchange.c: the exchange of a training step without the step: reduce-scatter of each bucket, then all-gather,
 * timed; small messages; and the share of a CPU that the communication thread takes while it has nothing to do. */
#include "bench/bench_group.h"

#include "base/clock.h"
#include "bench/bench_times.h"
#include "group/group_ops.h"
#include "train/shards/buckets.h"

#include <stdlib.h>

#define LEAST_REPEATS 5
#define PINGS 100

typedef struct exchange_bench {
    rapt_group *g;
    int ranks;
    size_t elements, buckets;
    size_t *bounds;     /* [buckets, ranks + 1], each bucket's from 0 */
    rapt_real *memory, **parts; /* [elements]; `parts`: where each bucket begins */
    group_op **operations;
    bench_times ms;
} exchange_bench;

static rapt_code exchange_prepare(exchange_bench *b, rapt_error *err)
{
    size_t limits = (size_t)b->ranks + 1;
    b->bounds = malloc(b->buckets * limits * sizeof *b->bounds);
    b->memory = malloc(b->elements * sizeof *b->memory);
    b->parts = malloc(b->buckets * sizeof *b->parts);
    b->operations = malloc(b->buckets * sizeof *b->operations);
    if (!b->bounds || !b->memory || !b->parts || !b->operations)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu elements", b->elements);
    for (size_t i = 0; i < b->buckets; i++) {
        size_t first = b->elements * i / b->buckets, count = b->elements * (i + 1) / b->buckets - first;
        b->parts[i] = b->memory + first;
        for (size_t r = 0; r < limits; r++)
            b->bounds[i * limits + r] = r * count / (size_t)b->ranks;
    }
    return RAPT_OK;
}

static void bench_exchange_release(exchange_bench *b)
{
    free(b->bounds);
    free(b->memory);
    free(b->parts);
    free(b->operations);
    bench_times_free(&b->ms);
}

/* Begins the operation of each bucket, then waits for them in order. */
static rapt_code exchange_all(exchange_bench *b, bool gather, rapt_error *err)
{
    const size_t limits = (size_t)b->ranks + 1;
    rapt_code code = RAPT_OK;
    size_t begun = 0;
    for (; begun < b->buckets && !code; begun++) {
        const size_t *bounds = b->bounds + begun * limits;
        b->operations[begun] = gather ? group_gather(b->g, b->parts[begun], bounds, sizeof(rapt_real), err)
                                      : group_reduce(b->g, (uint32_t)b->ranks, bounds, &b->parts[begun], err);
        code = b->operations[begun] ? RAPT_OK : err->code;
    }
    for (size_t i = 0; i < begun && !code; i++)
        code = group_wait(b->g, b->operations[i], err);
    return code;
}

/* Each rank gives ones, so each number becomes the number of ranks. */
static rapt_code exchange_once(exchange_bench *b, double *ms, rapt_error *err)
{
    char ready = 1, *all = malloc((size_t)b->ranks);
    if (!all)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an exchange");
    for (size_t i = 0; i < b->elements; i++)
        b->memory[i] = 1;
    rapt_code code = group_share(b->g, &ready, 1, all, err);
    free(all);
    double start = clock_seconds();
    code = code ? code : exchange_all(b, false, err);
    code = code ? code : exchange_all(b, true, err);
    *ms = 1e3 * (clock_seconds() - start);
    for (size_t i = 0; i < b->elements && !code; i++)
        if (b->memory[i] != (rapt_real)b->ranks)
            code = rapt_fail(err, RAPT_ERR_FORMAT, "element %zu is %g after the exchange, not %d", i, (double)b->memory[i],
                             b->ranks);
    return code;
}

/* Takes `more` from the first rank, so that all ranks do the same number of repeats. */
static rapt_code exchange_goes_on(exchange_bench *b, bool *more, rapt_error *err)
{
    char wanted = *more;
    rapt_code code = group_broadcast(b->g, 0, &wanted, 1, err);
    *more = wanted != 0;
    return code;
}

static rapt_code exchange_repeat(exchange_bench *b, double seconds, double *sent, rapt_error *err)
{
    double ms, start = clock_seconds();
    bool more = true;
    rapt_code code = exchange_once(b, &ms, err); /* warms up */
    uint64_t before = group_statistics(b->g).sent, bytes = 0;
    while (!code && more) {
        code = exchange_once(b, &ms, err);
        bytes += group_statistics(b->g).sent - before;
        if (!code && !bench_times_add(&b->ms, ms))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
        more = b->ms.count < LEAST_REPEATS || clock_seconds() - start < seconds;
        code = code ? code : exchange_goes_on(b, &more, err);
        before = group_statistics(b->g).sent;
    }
    *sent = code ? 0 : (double)bytes / (double)b->ms.count;
    return code;
}

static rapt_code ping(rapt_group *g, double *us, rapt_error *err)
{
    uint64_t mine = 0, *all = malloc((size_t)rapt_group_size(g) * sizeof *all);
    bench_times times = {0};
    rapt_code code = all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    for (int i = 0; i < PINGS && !code; i++) {
        double start = clock_seconds();
        code = group_share(g, &mine, sizeof mine, all, err);
        if (!code && !bench_times_add(&times, 1e6 * (clock_seconds() - start)))
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for times");
    }
    *us = bench_times_at(&times, 0.5);
    bench_times_free(&times);
    free(all);
    return code;
}

/* The share of CPU time of the whole process: if all ranks are threads of one process, of all ranks together. */
static double idle_share(double seconds)
{
    double cpu = clock_cpu_seconds(), start = clock_seconds();
    clock_sleep(seconds);
    return (clock_cpu_seconds() - cpu) / (clock_seconds() - start);
}

rapt_code bench_exchange(rapt_group *g, size_t elements, double seconds, group_exchange *found, rapt_error *err)
{
    int ranks = rapt_group_size(g);
    exchange_bench b = {.g = g, .ranks = ranks, .elements = elements, .buckets = buckets_wanted(elements)};
    rapt_code code = group_agree(g, exchange_prepare(&b, err), err);
    *found = (group_exchange){.buckets = b.buckets, .bound = 8.0 * (ranks - 1) / ranks * (double)elements};
    if (!code)
        code = exchange_repeat(&b, seconds, &found->sent, err);
    if (!code)
        code = ping(g, &found->ping_us, err);
    const bool left = !code || group_halt(g); /* operations that were begun leave the memory alone */
    found->repeats = b.ms.count;
    found->ms = bench_times_at(&b.ms, 0.5);
    found->p10 = bench_times_at(&b.ms, 0.1);
    found->p90 = bench_times_at(&b.ms, 0.9);
    if (left) /* or a call of the message layer may still use it */
        bench_exchange_release(&b);
    found->idle = code ? 0 : idle_share(seconds < 2 ? seconds : 2);
    return code;
}
