/* ops/elements.h: one loop over the elements of whole tensors, divided among the threads. For elementwise.c, activation.c and
 * linear_op.c. Not for rows: those go through tape_units. */
#ifndef OPS_ELEMENTS_H
#define OPS_ELEMENTS_H

#include "tape/tape_core.h"

#define ELEMENTS_BLOCK 1024 /* elements handled together: whole vectors, and scratch of a size known beforehand */

/* Processes elements `at` .. `at` + n - 1, n <= ELEMENTS_BLOCK. */
typedef void elements_fn(const kernels *k, const void *context, size_t at, size_t n, int worker);

/* Calls fn for all blocks of n elements that cost `cost` elementary operations each. */
void elements_run(rapt_tape *t, size_t n, size_t cost, elements_fn *fn, const void *context);

/* ELEMENTS_BLOCK elements of scratch for each worker; NULL after recording the failure. */
rapt_real *elements_scratch(rapt_tape *t);

/* y = a b, or y += a b: a gradient through an operation whose derivative is known. */
void elements_chain(rapt_tape *t, size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y, bool accumulate);

#endif
