/* base/stretches.h: works through a long range of bytes in parts, on all threads of a pool, and takes the results in order. For
 * texts and files that may be larger than memory: the number of parts in work depends on the threads, not on the range. */
#ifndef BASE_STRETCHES_H
#define BASE_STRETCHES_H

#include "base/buffer.h"
#include "base/pool.h"
#include "base/stop.h"

/* Bytes begin .. end - 1 and their results. The buffers are empty when the work on a part begins, and keep their memory for later
 * parts. */
typedef struct part {
    size_t begin, end;
    size_t stop; /* `work` tells `take` where it stopped */
    buffer out, more;
    rapt_code code; /* the result of `work`, with `err` */
    rapt_error err;
} part;

typedef struct parts {
    pool *pool;
    size_t begin, end; /* the whole range */
    stop_check stop;
    /* The end of the part that begins at `begin`: above `begin` and at most `end`; or `begin`, which ends the range here. Called
     * by one thread at a time, in order. */
    size_t (*end_of)(void *context, size_t begin);
    /* Called on any thread, at any time; `worker` as in pool_fn. */
    rapt_code (*work)(void *context, part *p, int worker, rapt_error *err);
    /* Called for one part after the other, in order, on any thread, while other threads work. Not called for a part whose work
     * failed, nor for later parts. */
    rapt_code (*take)(void *context, part *p, rapt_error *err);
    void *context;
} parts;

/* Returns when all parts are taken, or when a part has failed and all parts before it are taken. *reached, unless NULL, is the
 * end of the last part. RAPT_ERR_INTERRUPTED: cancelled; RAPT_ERR_MEMORY. */
rapt_code stretches_run(const parts *r, size_t *reached, rapt_error *err);

#endif
