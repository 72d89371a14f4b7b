/* ops/late.h: gradients that are made when they are used, see rapt_param.late. For the operation that leaves them and
 * the optimizer, which makes a few rows at a time. */
#ifndef OPS_LATE_H
#define OPS_LATE_H

#include "ops/tape_core.h"

/* Reads n numbers once, front to back, so that they are in the cache when a product wants them. A tile of a product reads
 * many rows at once, which the processor does not see coming: waiting for memory there cost a third of its time. */
static inline void late_fetch(const rapt_real *x, size_t n)
{
    for (size_t i = 0; i < n; i += KERNELS_ALIGN / sizeof *x)
        (void)*(const volatile rapt_real *)(x + i);
}

/* Whether a gradient with rows of `in` numbers can be left for later: a chunk of it has room. */
bool late_fits(const rapt_tape *t, size_t in);
/* RAPT_ERR_VALUE with a message that names the parameter: what p->late describes is gone. */
rapt_code late_check(const rapt_tape *t, const rapt_param *p, rapt_error *err);
/* Makes rows first .. first + count - 1 of p's gradient in `to` (`accumulate`: adds them to what is there). The bits of a
 * row don't depend on which others are made with it. */
void late_make(const kernels *k, const rapt_param *p, size_t first, size_t count, rapt_real *to, bool accumulate);
/* The same in the memory that the worker packs into; for up to 64 rows, or rows of 32,768 numbers together. */
const rapt_real *late_chunk(const rapt_tape *t, int worker, const rapt_param *p, size_t first, size_t count);

#endif
