/* ops/elements.c: divides the elements of a tensor into blocks for the threads. Blocks do not depend on the number of threads,
 * and no block needs another, so results don't either. It does no arithmetic. */
#include "ops/elements.h"

typedef struct elements_loop {
    const kernels *k;
    elements_fn *fn;
    const void *context;
    size_t n;
} elements_loop;

static void run_blocks(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const elements_loop *loop = context;
    (void)chunk;
    for (size_t block = first; block < last; block++) {
        size_t at = block * ELEMENTS_BLOCK, left = loop->n - at;
        loop->fn(loop->k, loop->context, at, left < ELEMENTS_BLOCK ? left : ELEMENTS_BLOCK, worker);
    }
}

void elements_run(rapt_tape *t, size_t n, size_t cost, elements_fn *fn, const void *context)
{
    elements_loop loop = {t->k, fn, context, n};
    size_t unit = n < ELEMENTS_BLOCK ? n : ELEMENTS_BLOCK; /* the work for a single token is too small to wake the pool */
    tape_units(t, (n + ELEMENTS_BLOCK - 1) / ELEMENTS_BLOCK, unit * cost, run_blocks, &loop);
}

rapt_real *elements_scratch(rapt_tape *t)
{
    return tape_scratch(t, ELEMENTS_BLOCK * (size_t)rapt_tape_threads(t), sizeof(rapt_real));
}

typedef struct chain {
    const rapt_real *a, *b;
    rapt_real *y;
    bool accumulate;
} chain;

static void chain_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const chain *c = context;
    (void)worker;
    if (c->accumulate)
        k->mul_add(n, c->a + at, c->b + at, c->y + at);
    else
        k->mul(n, c->a + at, c->b + at, c->y + at);
}

void elements_chain(rapt_tape *t, size_t n, const rapt_real *a, const rapt_real *b, rapt_real *y, bool accumulate)
{
    elements_run(t, n, 1, chain_block, &(chain){a, b, y, accumulate});
}
