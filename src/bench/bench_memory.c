/* bench/bench_memory.c: the machine's memory bandwidth: adding two arrays, and reading one array or the caller's memory. For
 * `rapt-bench train --profile` and `rapt-bench decode`. */
#include "bench/bench_memory.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

#define CHUNK ((size_t)16 << 10)

/* ---- adding ------------------------------------------------------------------------------------------------- */

#define ADD_NUMBERS ((size_t)16 << 20) /* numbers of each of three arrays: 64 MiB, more than caches hold */
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
    rapt_real *all = memory_aligned(KERNELS_ALIGN, 3 * ADD_NUMBERS * sizeof *all);
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
    memory_aligned_free(all);
    return best;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

#define READ_BYTES ((size_t)512 << 20) /* bytes of a pass: 16 times as many as large caches hold */
#define READ_PARTS 512                 /* parts of the reader's own memory */
#define READ_STREAMS 8                 /* at most, that a thread reads side by side */
#define READ_TRIES 3                   /* tries of each way to read */
#define LINE_WORDS 8   /* words of a cache line */
#define PART_WORDS (READ_BYTES / READ_PARTS / sizeof(uint64_t))
#define SPAN_PART_WORDS ((size_t)64 << 10 >> 3) /* words of a part of the caller's memory: small, so that threads get equal
                                                   shares */
#define STREAMS_WORDS ((size_t)READ_STREAMS * LINE_WORDS) /* the number of words of a part is a multiple of this */

typedef struct read_words {
    const uint64_t *words;
    size_t count;
} read_words;

/* A cache line, in the widest registers that a function may use. */
typedef uint64_t read_line __attribute__((vector_size(LINE_WORDS * sizeof(uint64_t)), aligned(sizeof(uint64_t)), may_alias));

typedef uint64_t read_fn(const read_words *part, size_t streams);

struct memory_reader {
    pool *pool;
    arena memory;
    read_words *parts;
    size_t count, tasks, laps; /* parts; tasks of a pass, each for a range of parts; how often a pass reads each part */
    read_fn *read;
    size_t streams;
    double bytes;    /* that a pass reads */
    uint64_t *found; /* [tasks], so that the reading is not in vain */
};

static inline __attribute__((always_inline)) uint64_t read_lines(const read_words *part, size_t streams)
{
    const size_t stream = part->count / streams;
    read_line bits = {0};
    uint64_t all = 0;
    for (size_t i = 0; i < stream; i += LINE_WORDS)
        for (size_t s = 0; s < streams; s++)
            bits ^= *(const read_line *)(part->words + s * stream + i);
    for (size_t j = 0; j < LINE_WORDS; j++)
        all ^= bits[j];
    return all;
}

/* Calls read_lines with a constant number of streams, so that the compiler unrolls its loops. */
static inline __attribute__((always_inline)) uint64_t read_streams(const read_words *part, size_t streams)
{
    switch (streams) {
    case 1: return read_lines(part, 1);
    case 2: return read_lines(part, 2);
    case 4: return read_lines(part, 4);
    default: return read_lines(part, READ_STREAMS);
    }
}

static uint64_t read_any(const read_words *part, size_t streams)
{
    return read_streams(part, streams);
}

/* Caches give more to wider registers; memory does not. */
#ifdef __x86_64__
__attribute__((target("avx2"))) static uint64_t read_avx2(const read_words *part, size_t streams)
{
    return read_streams(part, streams);
}

__attribute__((target("avx512f"))) static uint64_t read_avx512(const read_words *part, size_t streams)
{
    return read_streams(part, streams);
}

#define READ_FNS 3
static size_t find_read_fns(read_fn **fns)
{
    size_t count = 0;
    fns[count++] = read_any;
    if (__builtin_cpu_supports("avx2"))
        fns[count++] = read_avx2;
    if (__builtin_cpu_supports("avx512f"))
        fns[count++] = read_avx512;
    return count;
}
#else
#define READ_FNS 1
static size_t find_read_fns(read_fn **fns)
{
    fns[0] = read_any;
    return 1;
}
#endif

static void read_range(void *context, size_t task, int worker)
{
    memory_reader *r = context;
    uint64_t all = 0;
    (void)worker;
    for (size_t lap = 0; lap < r->laps; lap++)
        for (size_t i = r->count * task / r->tasks; i < r->count * (task + 1) / r->tasks; i++)
            all += r->read(&r->parts[i], r->streams);
    r->found[task] = all;
}

double memory_reader_pass(memory_reader *r)
{
    double start = clock_seconds();
    pool_run(r->pool, r->tasks, SIZE_MAX, read_range, r);
    return r->bytes / (clock_seconds() - start) * 1e-9;
}

/* The best rate with `streams` streams. */
static double try_streams(memory_reader *r, read_fn *read, size_t streams)
{
    double best = 0;
    r->read = read;
    r->streams = streams;
    for (int i = 0; i < READ_TRIES; i++)
        best = fmax(best, memory_reader_pass(r));
    return best;
}

/* Tries all: which registers and which number of streams are fastest depends on the machine, and on what caches hold. */
static void choose_reading(memory_reader *r)
{
    read_fn *fns[READ_FNS], *fastest = read_any;
    const size_t count = find_read_fns(fns);
    double best = 0;
    size_t chosen = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t streams = 1; streams <= READ_STREAMS; streams *= 2) {
            const double rate = try_streams(r, fns[i], streams);
            if (rate > best) {
                best = rate;
                fastest = fns[i];
                chosen = streams;
            }
        }
    r->read = fastest;
    r->streams = chosen;
}

/* A reader without anything to read yet. */
static memory_reader *reader_begin(int threads, rapt_error *err)
{
    memory_reader *r = calloc(1, sizeof *r);
    if (!r) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a measurement");
        return NULL;
    }
    arena_init(&r->memory, CHUNK);
    r->pool = pool_new(threads, err);
    if (r->pool)
        return r;
    memory_reader_free(r);
    return NULL;
}

/* Cuts n consecutive words into parts of at most `part` words, written from parts[count] on unless `parts` is NULL. Returns the
 * new count. */
static size_t cut_span(read_words *parts, size_t count, const uint64_t *words, size_t n, size_t part)
{
    for (size_t at = 0; n - at >= STREAMS_WORDS; count++) {
        size_t left = n - at, size = left < part ? left / STREAMS_WORDS * STREAMS_WORDS : part;
        if (parts)
            parts[count] = (read_words){words + at, size};
        at += size;
    }
    return count;
}

/* Cuts the memory to read into parts. False: out of memory. */
static bool reader_cut(memory_reader *r, const memory_span *spans, size_t count, size_t part)
{
    size_t words = 0;
    for (int fill = 0; fill < 2; fill++) {
        r->count = 0;
        for (size_t i = 0; i < count; i++)
            r->count = cut_span(r->parts, r->count, spans[i].data, spans[i].bytes / sizeof(uint64_t), part);
        if (!fill && !(r->parts = arena_array(&r->memory, r->count, sizeof *r->parts)))
            return false;
    }
    for (size_t i = 0; i < r->count; i++)
        words += r->parts[i].count;
    r->laps = words && words * sizeof(uint64_t) < READ_BYTES ? READ_BYTES / (words * sizeof(uint64_t)) : 1;
    /* Memory that caches can hold is divided among the threads once, so that each reads its own caches again. */
    r->tasks = r->laps > 1 ? (size_t)pool_threads(r->pool) : r->count;
    r->bytes = (double)(words * sizeof(uint64_t)) * (double)r->laps;
    r->found = arena_array(&r->memory, r->tasks, sizeof *r->found);
    return r->found != NULL;
}

static memory_reader *reader_fail(memory_reader *r, rapt_error *err)
{
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu MiB to measure with", READ_BYTES >> 20);
    memory_reader_free(r);
    return NULL;
}

static void fill_part(void *context, size_t part, int worker)
{
    uint64_t *words = context;
    (void)worker;
    for (size_t i = 0; i < PART_WORDS; i++)
        words[part * PART_WORDS + i] = part + i;
}

memory_reader *memory_reader_new(int threads, rapt_error *err)
{
    memory_reader *r = reader_begin(threads, err);
    if (!r)
        return NULL;
    uint64_t *words = arena_alloc(&r->memory, READ_BYTES);
    if (!words || !reader_cut(r, &(memory_span){words, READ_BYTES}, 1, PART_WORDS))
        return reader_fail(r, err);
    pool_run(r->pool, READ_PARTS, SIZE_MAX, fill_part, words);
    choose_reading(r);
    return r;
}

memory_reader *memory_reader_of(const memory_span *spans, size_t count, int threads, rapt_error *err)
{
    memory_reader *r = reader_begin(threads, err);
    if (!r)
        return NULL;
    if (!reader_cut(r, spans, count, SPAN_PART_WORDS))
        return reader_fail(r, err);
    choose_reading(r);
    return r;
}

void memory_reader_free(memory_reader *r)
{
    if (!r)
        return;
    pool_free(r->pool);
    arena_free(&r->memory);
    free(r);
}
