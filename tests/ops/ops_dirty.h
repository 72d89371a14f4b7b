/* tests/ops/ops_dirty.h: fills a tape's memory with NaN, so that whoever reads what he has not written is found out.
 * For the bit tests and the gradient check. */
#ifndef TESTS_OPS_DIRTY_H
#define TESTS_OPS_DIRTY_H

#include "tape/tape_core.h"

#include <string.h>

/* All bytes 1 are a NaN. The next rapt_tape_begin hands this memory out again. */
static inline void ops_dirty(rapt_tape *t)
{
    size_t step = (size_t)1 << 20, scratch = (size_t)1 << 17, workspace = gemm_workspace_size(rapt_tape_threads(t));
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *x = rapt_tape_tensor(t, 1, &step, false);
    rapt_real *s = tape_scratch(t, scratch, sizeof *s);
    if (rapt_tape_error(t)->code)
        return;
    memset(x->data, 0xff, step * sizeof *x->data);
    memset(s, 0xff, scratch * sizeof *s);
    memset(t->team.workspace, 0xff, workspace * sizeof *s);
}

#endif
