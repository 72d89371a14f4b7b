/* tensor/param_state.h: what training keeps for a parameter besides its value and gradient. For operations and the optimizer;
 * users of a parameter see only a pointer to it. */
#ifndef TENSOR_PARAM_STATE_H
#define TENSOR_PARAM_STATE_H

#include "rapt/tensor.h"

#include "base/pool.h"

/* Rows to be added to a deferred gradient when it is computed: scale[i] times row i of dy [count, in] to row ids[i], in this
 * order; nothing where ids[i] is below 0. */
typedef struct deferred_rows deferred_rows;
struct deferred_rows {
    deferred_rows *next; /* to be added after these, or NULL */
    const int32_t *ids;
    const rapt_real *scale, *dy;
    size_t count;
};

/* A deferred weight gradient [out, in] (ops/deferred.h): the operands of dy^T x, in the memory of a pass, to be summed over rows
 * in the K blocks of a GEMM. */
typedef struct deferred_grad {
    const rapt_real *dy, *x;      /* [rows, out], [rows, in]; dy NULL: nothing is deferred */
    size_t dy_stride;             /* elements from one row of dy to the next */
    const size_t *ends;           /* [blocks]: block i ends before row ends[i]; blocks may be empty */
    size_t blocks;
    const struct rapt_tape *tape; /* that recorded it, in its pass number `pass` */
    uint64_t pass;
    bool takes_rows;              /* embeddings with the same matrix add `rows`, not to value.grad */
    deferred_rows *rows;          /* or NULL */
} deferred_grad;

/* Applies the deferred updates of rows ids[0 .. count - 1] (all rows if ids is NULL), or waits for updates that another process
 * makes. With a pool its threads share the work. */
typedef void param_refresh_fn(void *context, pool *threads, const int32_t *ids, size_t count);

/* The source of a parameter's values (tensor/param_source.h), and the function that makes sure that rows ids[0 .. count - 1] have
 * been read; ids NULL: all rows. */
typedef struct param_source param_source;
typedef void param_fetch_fn(const rapt_param *p, pool *threads, const int32_t *ids, size_t count);

struct rapt_param_state {
    uint8_t *row_used;         /* sparse: [shape[0]], 1 for each row that holds a gradient; else NULL */
    deferred_grad deferred;    /* to be added to value.grad; good until the tape's next rapt_tape_begin */
    param_refresh_fn *refresh; /* NULL: no update is deferred */
    void *refresh_context;
    param_source *source; /* NULL: the values are there */
    param_fetch_fn *fetch; /* of a source */
    bool read_exactly; /* a recorded pass has read the exact elements, not rounded ones (tape_refresh) */
};

/* Called before elements of p are read: the rows that ids name (the caller has checked them), or all of them. */
static inline void param_refresh_rows(const rapt_param *p, pool *threads, const int32_t *ids, size_t count)
{
    if (p->state->source)
        p->state->fetch(p, threads, ids, count);
    if (p->state->refresh)
        p->state->refresh(p->state->refresh_context, threads, ids, count);
}

static inline void param_refresh(const rapt_param *p, pool *threads)
{
    param_refresh_rows(p, threads, NULL, 0);
}

/* From now on `refresh` is called before p is read. An optimizer that deferred updates of p before applies them first. */
void param_defer_updates(rapt_param *p, param_refresh_fn *refresh, void *context);

#endif
