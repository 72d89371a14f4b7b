/* base/pool.h: a persistent pool of threads for loops over fixed chunks.
 * The caller fixes the chunks (they are part of the number format); which thread runs which chunk is free, so
 * results never depend on the number of threads. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "rapt/base.h"

typedef struct rapt_pool pool;

/* Runs chunk `chunk`; `worker` is below pool_threads() and tells scratch memory apart, nothing else. */
typedef void pool_fn(void *context, size_t chunk, int worker);

/* The number of CPUs that this process may use: those in its affinity mask, limited by the quota of its control group. `root` is
 * put before /proc and /sys: "", or in tests a folder that looks like them. */
int pool_cpus(const char *root);

/* `threads` >= 1 includes the caller; 0 means RAPT_THREADS, or else the number of CPUs that this process may use; a negative
 * number, or one above 256, is RAPT_ERR_VALUE. In a child of fork(), a pool of the parent runs its loops on one thread, and can
 * be freed. */
pool *pool_new(int threads, rapt_error *err);
/* RAPT_ERR_VALUE: pool_new refuses this number of threads, or RAPT_THREADS. For callers that need no pool for little work. */
rapt_code pool_check_threads(int threads, rapt_error *err);
/* The threads of pool_new(0), before any is started; 1 if it refuses RAPT_THREADS. */
int pool_usual_threads(void);
void pool_free(pool *p);
int pool_threads(const pool *p);
/* From now on several threads may call pool_run at once: one of them gets the workers, the others run their loops alone. */
void pool_share(pool *p);
/* While `on`, pool_run returns at once, for a pass that is only counted and not computed. */
void pool_rest(pool *p, bool on);

/* The time of loops that ran in several threads, in seconds of the caller. */
typedef struct pool_times {
    uint64_t loops;
    double inside;  /* from their starts to their ends */
    double waiting; /* part of `inside`, at their ends: no chunk was left for the caller */
} pool_times;

/* Measures from now on, or no longer; three clock reads a loop. No loop may be running. */
void pool_measure(pool *p, bool on);
/* What was measured since pool_measure. */
pool_times pool_measured(const pool *p);

#define POOL_MAX_CHUNKS 8388607 /* more run on the caller's thread alone */

/* Runs fn for chunks 0 .. count-1 and returns when all are done. `work` is the total work in elementary
 * operations (a guess): small loops run on the caller's thread alone. Not reentrant. */
void pool_run(pool *p, size_t count, size_t work, pool_fn *fn, void *context);

/* The first of the `count` chunks that belong to thread `range`, before it helps others; it ends where the next range begins. For
 * callers that want each thread to process the same rows in successive loops. */
size_t pool_range_start(const pool *p, size_t count, size_t range);

#endif
