/* base/pool.c: workers wait for their ticket to move to a new loop, first spinning (a training step issues a loop every few
 * microseconds), then asleep on a condition. For the tensor layer. Not a task queue: it runs one loop at a time.
 *
 * The chunks of a loop are divided in order, a range for each thread: a thread then mostly reads what it wrote in the loop
 * before, from its own cache. A thread that is done with its range helps with the others. Chunks are claimed from the ticket of a
 * range, one 64-bit number: loop | end | index. A thread claims a chunk by adding 1, and the old value tells everything: an index
 * below the end keeps that loop open until the chunk is reported done. So a worker that wakes late can neither miss nor repeat a
 * chunk, and no thread waits for workers that are still asleep.
 *
 * fork() copies the pool but none of its workers. In the child the mutex may be held for ever, and the condition counts waiters
 * that do not exist, so the pool touches neither once it finds itself in another process. Loops then run on the caller's thread,
 * with the same results. */
#include "base/pool.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/thread.h"

#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPIN_ROUNDS 20000      /* a worker spins for some 50 us before it goes to sleep */
#ifndef SERIAL_WORK            /* tests set 1, so that small loops run in threads too */
#define SERIAL_WORK 20000      /* below this a wake-up costs more than it saves */
#define CROWDED_WORK 300000    /* a loop below this takes less than a time slice that another process may get */
#endif
#ifndef CROWDED_WORK
#define CROWDED_WORK 1 /* no loop is crowded: tests want all loops in threads */
#endif
#define ALONE_MIN 256        /* loops that the caller runs alone after a worker kept it waiting */
#define ALONE_MAX 16384       /* the max after repeated waits, doubling each time: tenths of a second */
#define MAX_THREADS 256
#define INDEX_BITS 24
#define INDEX_MASK (((uint64_t)1 << INDEX_BITS) - 1)
_Static_assert(POOL_MAX_CHUNKS == INDEX_MASK / 2, "indices are left for claims beyond the last chunk");

/* On its own cache line, because its thread polls it between loops. */
typedef struct pool_range {
    _Alignas(64) atomic_ullong ticket;
} pool_range;

/* Part of the pool, so that no worker has to free it: a thread that calls the allocator gets 64 MiB of addresses for its own
 * heap. */
typedef struct worker_start {
    pool *p;
    int index;
} worker_start;

struct rapt_pool {
    int threads;
    long owner;                 /* the process in which the workers run */
    worker_start start[MAX_THREADS];
    thread_handle thread[MAX_THREADS];
    thread_mutex mutex;
    thread_condition wake;
    bool rests;                 /* pool_run does nothing */
    bool shared;                /* several threads call pool_run */
    bool measures;
    pool_times times;
    atomic_flag busy;           /* one of them has the workers */
    int sleepers;               /* guarded by mutex */
    int alone, alone_next;      /* small loops that the caller still runs alone; the number for the next wait */
    pool_fn *fn;
    void *context;
    uint64_t loop;
    _Alignas(64) atomic_bool stop;
    _Alignas(64) atomic_size_t done; /* chunks of this loop that are finished */
    pool_range ranges[MAX_THREADS];
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* waits like x86's pause; `yield` does nothing on most AArch64 processors */
#endif
}

static bool is_exhausted(uint64_t ticket)
{
    return (ticket & INDEX_MASK) >= (ticket >> INDEX_BITS & INDEX_MASK);
}

/* Runs the remaining chunks of a range and returns their number. A load precedes each claim, because many threads that add to
 * exhausted tickets would contend for the cache line. */
static size_t run_range(pool *p, int range, int worker)
{
    atomic_ullong *ticket = &p->ranges[range].ticket;
    for (size_t finished = 0;; finished++) {
        if (is_exhausted(atomic_load_explicit(ticket, memory_order_relaxed)))
            return finished;
        uint64_t t = atomic_fetch_add_explicit(ticket, 1, memory_order_acq_rel);
        if (is_exhausted(t))
            return finished;
        p->fn(p->context, t & INDEX_MASK, worker);
    }
}

/* Runs the worker's own range, then helps with the others. */
static void run_chunks(pool *p, int worker)
{
    size_t finished = 0;
    for (int i = 0; i < p->threads; i++)
        finished += run_range(p, (worker + i) % p->threads, worker);
    if (finished)
        atomic_fetch_add_explicit(&p->done, finished, memory_order_release);
}

static uint64_t loop_of(pool *p, int worker)
{
    return atomic_load_explicit(&p->ranges[worker].ticket, memory_order_acquire) >> (2 * INDEX_BITS);
}

static bool has_work(pool *p, int worker, uint64_t seen)
{
    return loop_of(p, worker) != seen || atomic_load(&p->stop);
}

static void sleep_until_work(pool *p, int worker, uint64_t seen)
{
    thread_lock(&p->mutex);
    p->sleepers++;
    while (!has_work(p, worker, seen))
        thread_wait(&p->wake, &p->mutex);
    p->sleepers--;
    thread_unlock(&p->mutex);
}

static uint64_t wait_for_work(pool *p, int worker, uint64_t seen)
{
    int rounds = 0;
    while (!has_work(p, worker, seen) && rounds++ < SPIN_ROUNDS)
        relax();
    if (!has_work(p, worker, seen))
        sleep_until_work(p, worker, seen);
    return loop_of(p, worker);
}

static void *worker_main(void *start)
{
    pool *p = ((const worker_start *)start)->p;
    int index = ((const worker_start *)start)->index;
    fesetenv(FE_DFL_ENV); /* rounding mode and denormals belong to the number format */
    for (uint64_t seen = 0;;) {
        seen = wait_for_work(p, index, seen);
        if (atomic_load(&p->stop))
            return NULL;
        run_chunks(p, index);
    }
}

/* The value of RAPT_THREADS; 0 with `err` set if it is not a valid number: a typo must not change the number of threads. */
static int parse_threads(const char *text, rapt_error *err)
{
    char *end;
    long threads = strtol(text, &end, 10);
    if (end > text && *end == '\0' && threads >= 1 && threads <= MAX_THREADS)
        return (int)threads;
    rapt_fail(err, RAPT_ERR_VALUE, "RAPT_THREADS is '%.40s'; it must be a whole number from 1 to %d", text, MAX_THREADS);
    return 0;
}

int pool_cpus(const char *root)
{
    const int cpus = process_cpus(), quota = process_quota(root);
    return quota > 0 && quota < cpus ? quota : cpus;
}

static int default_threads(rapt_error *err)
{
    const char *value = getenv("RAPT_THREADS");
    if (value && *value)
        return parse_threads(value, err);
    int cpus = pool_cpus("");
    return cpus < MAX_THREADS ? cpus : MAX_THREADS;
}

int pool_usual_threads(void)
{
    const int threads = default_threads(NULL);
    return threads > 0 ? threads : 1;
}

rapt_code pool_check_threads(int threads, rapt_error *err)
{
    const char *value = getenv("RAPT_THREADS");
    if (threads < 0 || threads > MAX_THREADS)
        return rapt_fail(err, RAPT_ERR_VALUE, "%d threads asked for; at most %d are possible", threads, MAX_THREADS);
    return threads == 0 && value && *value && parse_threads(value, err) == 0 ? RAPT_ERR_VALUE : RAPT_OK;
}

pool *pool_new(int threads, rapt_error *err)
{
    if (pool_check_threads(threads, err) != RAPT_OK)
        return NULL;
    threads = threads != 0 ? threads : default_threads(err);
    pool *p = memory_aligned(_Alignof(pool), sizeof *p);
    if (!p) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the thread pool");
        return NULL;
    }
    *p = (pool){.threads = 1, .owner = process_id()};
    atomic_flag_clear(&p->busy);
    thread_mutex_init(&p->mutex);
    thread_condition_init(&p->wake);
    for (int i = 1; i < threads; i++, p->threads++) {
        p->start[i] = (worker_start){p, i};
        if (!thread_start(&p->thread[i], worker_main, &p->start[i])) {
            rapt_fail(err, RAPT_ERR_MEMORY, "could not start thread %d of %d", i + 1, threads);
            pool_free(p);
            return NULL;
        }
    }
    return p;
}

static bool is_in_child(const pool *p)
{
    return p->owner != process_id();
}

void pool_free(pool *p)
{
    if (!p)
        return;
    if (is_in_child(p)) {
        memory_aligned_free(p);
        return;
    }
    thread_lock(&p->mutex);
    atomic_store(&p->stop, true);
    thread_wake_all(&p->wake);
    thread_unlock(&p->mutex);
    for (int i = 1; i < p->threads; i++)
        thread_join(p->thread[i]);
    thread_condition_free(&p->wake);
    thread_mutex_free(&p->mutex);
    memory_aligned_free(p);
}

int pool_threads(const pool *p)
{
    return p->threads;
}

void pool_share(pool *p)
{
    p->shared = true;
}

void pool_measure(pool *p, bool on)
{
    p->measures = on;
    p->times = (pool_times){0};
}

pool_times pool_measured(const pool *p)
{
    return p->times;
}

void pool_rest(pool *p, bool on)
{
    p->rests = on;
}

size_t pool_range_start(const pool *p, size_t count, size_t range)
{
    size_t threads = (size_t)p->threads;
    return (range * count + threads - 1) / threads; /* gives the first chunk to the caller, which is awake */
}

static void open_range(pool *p, int range, size_t count)
{
    uint64_t first = pool_range_start(p, count, (size_t)range), end = pool_range_start(p, count, (size_t)range + 1);
    atomic_store_explicit(&p->ranges[range].ticket, p->loop << (2 * INDEX_BITS) | end << INDEX_BITS | first,
                          memory_order_release);
}

/* Takes the mutex. False: this process is a child of fork() without workers, and the caller runs alone from now on. Whether it is
 * a child is asked only if the call takes long anyway: if the lock is held, or if workers must be woken. */
static bool pool_lock(pool *p)
{
    const bool locked = thread_try_lock(&p->mutex);
    if ((!locked || p->sleepers) && is_in_child(p)) {
        p->threads = 1;
        return false;
    }
    if (!locked)
        thread_lock(&p->mutex);
    return true;
}

/* Called with the mutex held; releases it. */
static void start_loop(pool *p, size_t count)
{
    p->loop = (p->loop + 1) & (UINT64_MAX >> (2 * INDEX_BITS));
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    for (int i = p->threads; i-- > 0;)
        open_range(p, i, count);
    if (p->sleepers)
        thread_wake_all(&p->wake);
    thread_unlock(&p->mutex);
}

/* Waits for the last chunks. Threads may outnumber CPUs, so after a while the caller yields its CPU. Returns whether it did. */
static bool wait_until_done(pool *p, size_t count)
{
    int rounds = 0;
    for (; atomic_load_explicit(&p->done, memory_order_acquire) < count; rounds += rounds < SPIN_ROUNDS) {
        if (rounds < SPIN_ROUNDS)
            relax();
        else
            thread_yield();
    }
    return rounds == SPIN_ROUNDS;
}

/* If a small loop took that long, another process is using the CPU of a worker. Then small loops are faster on the caller alone,
 * for a period that doubles each time this happens again. */
static void note_wait(pool *p, bool waited)
{
    int twice = p->alone_next < ALONE_MIN ? ALONE_MIN : 2 * p->alone_next;
    if (waited)
        p->alone = p->alone_next = twice < ALONE_MAX ? twice : ALONE_MAX;
    else if (p->alone_next > 0)
        p->alone_next--;
}

static void run_serial(size_t count, pool_fn *fn, void *context)
{
    for (size_t i = 0; i < count; i++)
        fn(context, i, 0);
}

/* The moment, if loops are measured. */
static double pool_now(const pool *p)
{
    return p->measures ? clock_seconds() : 0;
}

static void note_times(pool *p, double start, double ran_out)
{
    const double end = pool_now(p);
    p->times.loops++;
    p->times.inside += end - start;
    p->times.waiting += end - ran_out;
}

/* Runs a loop in all threads, or alone if workers would not help. */
static void run_shared_out(pool *p, size_t count, bool small, pool_fn *fn, void *context)
{
    const bool alone = small && p->alone > 0;
    p->alone -= alone;
    if (alone || !pool_lock(p)) {
        run_serial(count, fn, context);
        return;
    }
    const double start = pool_now(p);
    p->fn = fn;
    p->context = context;
    start_loop(p, count);
    run_chunks(p, 0);
    const double ran_out = pool_now(p);
    bool waited = wait_until_done(p, count);
    if (p->measures)
        note_times(p, start, ran_out);
    if (small)
        note_wait(p, waited);
}

void pool_run(pool *p, size_t count, size_t work, pool_fn *fn, void *context)
{
    if (p->rests)
        return;
    const bool serial = p->threads == 1 || count < 2 || work < SERIAL_WORK || count > POOL_MAX_CHUNKS;
    if (serial || (p->shared && atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire))) {
        run_serial(count, fn, context);
        return;
    }
    run_shared_out(p, count, work < CROWDED_WORK, fn, context);
    if (p->shared)
        atomic_flag_clear_explicit(&p->busy, memory_order_release);
}
