/* text/unicode/unicode_runs.h: looks up code points in a table of runs. A run is one number: its first code point, above `bits`
 * bits with the property of its characters; it ends where the next begins. For the files of this folder. */
#ifndef TEXT_UNICODE_UNICODE_RUNS_H
#define TEXT_UNICODE_UNICODE_RUNS_H

#include <stddef.h>
#include <stdint.h>

enum { RUNS_BLOCK_BITS = 8, RUNS_BLOCKED = 0x20000 }; /* as make_unicode.py has them */

typedef struct unicode_runs {
    const uint32_t *runs;
    size_t count;
    const uint16_t *blocks; /* the run that the first code point of each block of the first code points is in */
    unsigned bits;
} unicode_runs;

#define UNICODE_RUNS(name, width) {name##_RUNS, sizeof name##_RUNS / sizeof *name##_RUNS, name##_BLOCKS, width}

/* The number of the run. */
static inline size_t unicode_run_of(const unicode_runs *t, uint32_t code)
{
    size_t low = t->blocks[RUNS_BLOCKED >> RUNS_BLOCK_BITS], high = t->count;
    if (code < RUNS_BLOCKED) {
        low = t->blocks[code >> RUNS_BLOCK_BITS];
        high = (size_t)t->blocks[(code >> RUNS_BLOCK_BITS) + 1] + 1;
    }
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (t->runs[middle] >> t->bits <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
