/* cli/bench/bench_memory.c: the machine's memory bandwidth: adding two arrays, and reading one. For `rapt bench train --profile`
 * and `rapt bench decode`. Not the bandwidth of caches. */
#include "cli/bench/bench_memory.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/pool.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

/* ---- adding ------------------------------------------------------------------------------------------------- */

#define ADD_NUMBERS ((size_t)16 << 20) /* of each of three arrays: 64 MiB, more than caches hold */
#define ADD_PARTS 256
#define ADD_TRIES 5

typedef struct addition {
    const kernels *k;
    rapt_real *a, *b, *sum;
} addition;

static void add_part(void *context, size_t part, int worker)
{
    const addition *t = context;
    size_t n = ADD_NUMBERS / ADD_PARTS, at = part * n;
    (void)worker;
    t->k->add(n, t->a + at, t->b + at, t->sum + at);
}

double memory_adds(int threads, rapt_error *err)
{
    rapt_real *all = aligned_alloc(KERNELS_ALIGN, 3 * ADD_NUMBERS * sizeof *all);
    addition t = {kernels_active(err), all, all + ADD_NUMBERS, all + 2 * ADD_NUMBERS};
    pool *p = t.k && all ? pool_new(threads, err) : NULL;
    double best = 0;
    for (size_t i = 0; p && i < 2 * ADD_NUMBERS; i++)
        all[i] = 1;
    for (int i = 0; p && i < ADD_TRIES; i++) {
        double start = clock_seconds();
        pool_run(p, ADD_PARTS, SIZE_MAX, add_part, &t);
        best = fmax(best, 3.0 * ADD_NUMBERS * sizeof *all / (clock_seconds() - start) * 1e-9);
    }
    if (!all)
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a measurement");
    pool_free(p);
    free(all);
    return best;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

#define READ_BYTES ((size_t)512 << 20) /* 16 times what large caches hold */
#define READ_PARTS 512
#define READ_STREAMS 8 /* at most, that a thread reads side by side: which number is fastest depends on the machine */
#define READ_TRIES 3   /* of each number of streams */
#define LINE_WORDS 8   /* of a cache line */
#define PART_WORDS (READ_BYTES / READ_PARTS / sizeof(uint64_t))

struct memory_reader {
    pool *pool;
    arena memory;
    uint64_t *words;
    size_t streams;
    uint64_t found[READ_PARTS]; /* so that the reading is not in vain */
};

static void fill_part(void *context, size_t part, int worker)
{
    memory_reader *r = context;
    (void)worker;
    for (size_t i = 0; i < PART_WORDS; i++)
        r->words[part * PART_WORDS + i] = part + i;
}

static void read_part(void *context, size_t part, int worker)
{
    memory_reader *r = context;
    const uint64_t *from = r->words + part * PART_WORDS;
    const size_t stream = PART_WORDS / r->streams;
    uint64_t bits[LINE_WORDS] = {0}, all = 0;
    (void)worker;
    for (size_t i = 0; i < stream; i += LINE_WORDS)
        for (size_t s = 0; s < r->streams; s++)
            for (size_t j = 0; j < LINE_WORDS; j++)
                bits[j] ^= from[s * stream + i + j];
    for (size_t j = 0; j < LINE_WORDS; j++)
        all ^= bits[j];
    r->found[part] = all;
}

double memory_reader_pass(memory_reader *r)
{
    double start = clock_seconds();
    pool_run(r->pool, READ_PARTS, SIZE_MAX, read_part, r);
    return (double)READ_BYTES / (clock_seconds() - start) * 1e-9;
}

static void choose_streams(memory_reader *r)
{
    double best = 0;
    size_t chosen = 1;
    for (r->streams = 1; r->streams <= READ_STREAMS; r->streams *= 2)
        for (int i = 0; i < READ_TRIES; i++) {
            double rate = memory_reader_pass(r);
            chosen = rate > best ? r->streams : chosen;
            best = fmax(best, rate);
        }
    r->streams = chosen;
}

memory_reader *memory_reader_new(int threads, rapt_error *err)
{
    memory_reader *r = calloc(1, sizeof *r);
    if (!r) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a measurement");
        return NULL;
    }
    arena_init(&r->memory, READ_BYTES);
    r->pool = pool_new(threads, err);
    r->words = r->pool ? arena_alloc(&r->memory, READ_BYTES) : NULL;
    if (r->words) {
        pool_run(r->pool, READ_PARTS, SIZE_MAX, fill_part, r);
        choose_streams(r);
        return r;
    }
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu MiB to measure with", READ_BYTES >> 20);
    memory_reader_free(r);
    return NULL;
}

void memory_reader_free(memory_reader *r)
{
    if (!r)
        return;
    pool_free(r->pool);
    arena_free(&r->memory);
    free(r);
}
