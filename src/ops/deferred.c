/* ops/deferred.c: computes deferred weight gradients: a chunk of rows for the optimizer, or a whole matrix. For
 * rapt_op_output_loss, which records them, and train/. */
#include "ops/deferred.h"

#include "tape/grad_watch.h"

#include <string.h>

#define SETTLE_ROWS 128 /* of one task */
#define MAX_WIDTH 2048  /* elements of a row: 64 rows fit into the memory that a worker packs into */

void tape_defer_gradients(rapt_tape *t, bool on)
{
    t->defers = on;
}

void tape_release_gradients(rapt_tape *t, bool on)
{
    t->releases = on;
}

bool deferred_fits(const rapt_tape *t, size_t in)
{
    return panels_can_stay(t->team.gemm, (matrix){.row = (ptrdiff_t)in, .col = 1}, in) && in <= MAX_WIDTH;
}

rapt_code deferred_check(const rapt_tape *t, const rapt_param *p, rapt_error *err)
{
    const deferred_grad *d = &p->state->deferred;
    if (!d->dy || (d->tape == t && d->pass == t->passes))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: its deferred gradient belongs to another tape or to a pass that is over",
                     p->value.name);
}

static bool deferred_now(const rapt_tape *t, const rapt_param *p)
{
    const deferred_grad *d = &p->state->deferred;
    return d->dy && d->tape == t && d->pass == t->passes;
}

bool deferred_add_rows(rapt_tape *t, rapt_param *p, size_t count, const int32_t *ids, const rapt_real *scale,
                       const rapt_real *dy)
{
    if (!p->state->deferred.takes_rows || !deferred_now(t, p) || p->value.grad_filled)
        return false;
    deferred_rows *r = tape_alloc(t, 1, sizeof *r), **end = &p->state->deferred.rows;
    const size_t elements = count * p->value.shape[1];
    rapt_real *copy = tape_elements(t, elements);
    if (!r || !copy)
        return true; /* the tape has failed */
    if (tape_computes(t))
        memcpy(copy, dy, elements * sizeof *copy);
    *r = (deferred_rows){NULL, ids, scale, copy, count};
    while (*end)
        end = &(*end)->next;
    *end = r;
    grad_watch_note(t, &p->value);
    return true;
}

/* Adds to rows first .. first + count - 1, which are in `to`. */
static void deferred_add(const kernels *k, const rapt_param *p, size_t first, size_t count, rapt_real *to)
{
    const size_t in = p->value.shape[1];
    for (const deferred_rows *r = p->state->deferred.rows; r; r = r->next)
        for (size_t i = 0; i < r->count; i++)
            if (r->ids[i] >= 0 && (size_t)r->ids[i] >= first && (size_t)r->ids[i] - first < count)
                k->axpy(in, r->scale[i], r->dy + i * in, to + ((size_t)r->ids[i] - first) * in);
}

/* Computes rows first .. first + count - 1 into `to` (`accumulate`: adds them to `to`). */
static void deferred_compute(const kernels *k, const rapt_param *p, size_t first, size_t count, rapt_real *to, bool accumulate)
{
    const deferred_grad *l = &p->state->deferred;
    size_t in = p->value.shape[1], row = 0;
    for (size_t i = 0; i < l->blocks; i++) {
        const rapt_real *dy = l->dy + row * l->dy_stride + first;
        matrix a = {dy, 1, (ptrdiff_t)l->dy_stride};
        panel_block b = panels_in_place(&k->gemm, (matrix){l->x + row * in, (ptrdiff_t)in, 1});
        size_t rows = l->ends[i] - row;
        for (; row < l->ends[i]; row++, dy += l->dy_stride)
            deferred_prefetch(dy, count);
        if (rows > 0)
            panels_multiply_block(&k->gemm, count, in, rows, &a, &b, to, in, &(kernels_epilogue){.accumulate = accumulate});
        accumulate = accumulate || rows > 0;
    }
    if (!accumulate)
        memset(to, 0, count * in * sizeof *to);
    deferred_add(k, p, first, count, to);
}

const rapt_real *deferred_chunk(const rapt_tape *t, int worker, const rapt_param *p, size_t first, size_t count)
{
    rapt_real *to = gemm_own(&t->team, worker);
    deferred_compute(t->k, p, first, count, to, false);
    return to;
}

typedef struct settlement {
    const kernels *k;
    const rapt_param *p;
} settlement;

/* A pool_fn. */
static void deferred_settle_rows(void *context, size_t chunk, int worker)
{
    const settlement *loop = context;
    const rapt_tensor *w = &loop->p->value;
    size_t first = chunk * SETTLE_ROWS, left = w->shape[0] - first;
    (void)worker;
    deferred_compute(loop->k, loop->p, first, left < SETTLE_ROWS ? left : SETTLE_ROWS, w->grad + first * w->shape[1],
                     w->grad_filled);
}

rapt_code deferred_settle(rapt_tape *t, rapt_param *p, rapt_error *err)
{
    settlement loop = {t->k, p};
    rapt_code code = deferred_check(t, p, err);
    if (code || !p->state->deferred.dy)
        return code;
    pool_run(t->pool, (p->value.shape[0] + SETTLE_ROWS - 1) / SETTLE_ROWS, 64 * rapt_tensor_size(&p->value), deferred_settle_rows,
             &loop);
    p->value.grad_filled = true;
    p->state->deferred = (deferred_grad){0};
    return RAPT_OK;
}
