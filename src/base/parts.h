/* base/parts.h: a long range of bytes worked through in parts, on all threads of a pool, with results that are taken in order.
 * For texts and files that may be larger than memory: as many parts are in work at once as threads need, whatever the range. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include "base/buffer.h"
#include "base/pool.h"
#include "base/stop.h"

/* Bytes begin .. end - 1, and what became of them. The buffers are empty when a part's work begins, and keep their memory for
 * later parts. */
typedef struct part {
    size_t begin, end;
    size_t stop; /* for `work` to tell `take`: where it stopped */
    buffer out, more;
    rapt_code code; /* what `work` returned, with `err` */
    rapt_error err;
} part;

typedef struct parts {
    pool *pool;
    size_t begin, end; /* of the whole range */
    stop_check stop;
    /* Where the part ends that begins at `begin`: above it and at most `end`; or `begin`, and the range ends here. One call
     * after the other. */
    size_t (*end_of)(void *context, size_t begin);
    /* On any thread, at any time; `worker` is that of pool_fn. */
    rapt_code (*work)(void *context, part *p, int worker, rapt_error *err);
    /* In the order of the parts, one after the other, but on any thread, while others work. Not called for a part whose work
     * failed, nor for those behind it. */
    rapt_code (*take)(void *context, part *p, rapt_error *err);
    void *context;
} parts;

/* Returns when all parts are taken, or the first one in the range's order has failed; *reached, unless NULL, is where the last
 * part ends. RAPT_ERR_INTERRUPTED where it was stopped; RAPT_ERR_MEMORY. */
rapt_code parts_run(const parts *r, size_t *reached, rapt_error *err);

#endif
