/* tensor/source_panels.c: packs on all threads, each a few rows of the matrix at a time. */
#include "tensor/source_panels.h"

#include "base/min.h"
#include "tensor/panels.h"
#include "tensor/param_source.h"

#include <stdlib.h>

#define COLUMNS ((size_t)KERNELS_MAX_NR) /* of W^T that a thread packs at a time: whole panels of every kernel */
#define DEPTH ((size_t)32) /* rows of W that a thread packs at a time: whole steps of every kernel, a part of a K block */
_Static_assert(KERNELS_K_BLOCK % 32 == 0, "parts of a K block");

typedef struct source_packing {
    const kernels_gemm *gemm;
    const rapt_param *w;
    rapt_real *panels;
    rapt_real *rows; /* [threads][count, in] rows that were read from the source of W, if it has one */
    size_t count;    /* rows at a time: COLUMNS or DEPTH */
} source_packing;

/* The rows of a chunk. */
static const rapt_real *packing_rows(const source_packing *p, size_t first, size_t count, int worker)
{
    const size_t in = p->w->value.shape[1];
    if (!p->rows)
        return p->w->value.data + first * in;
    rapt_real *to = p->rows + (size_t)worker * p->count * in;
    param_source_read(p->w, first, count, to);
    return to;
}

/* Rows of W are columns of the panels of W^T. */
static void pack_columns(void *context, size_t chunk, int worker)
{
    const source_packing *p = context;
    const size_t out = p->w->value.shape[0], in = p->w->value.shape[1], first = chunk * COLUMNS;
    const size_t count = MIN(out - first, COLUMNS);
    const matrix columns = {packing_rows(p, first, count, worker), 1, (ptrdiff_t)in};
    panels_pack_columns(p->gemm, in, out, first, count, &columns, p->panels);
}

static void pack_depth(void *context, size_t chunk, int worker)
{
    const source_packing *p = context;
    const size_t out = p->w->value.shape[0], in = p->w->value.shape[1], first = chunk * DEPTH, count = MIN(out - first, DEPTH);
    const matrix rows = {packing_rows(p, first, count, worker), (ptrdiff_t)in, 1};
    panels_pack_depth(p->gemm, out, in, first, count, &rows, p->panels);
}

/* Rows that are stored as blocks, which the kernels take unchanged. */
static void pack_block_columns(void *context, size_t chunk, int worker)
{
    const source_packing *p = context;
    const size_t out = p->w->value.shape[0], in = p->w->value.shape[1], first = chunk * COLUMNS;
    const size_t count = MIN(out - first, COLUMNS);
    const uint8_t *rows[COLUMNS];
    (void)worker;
    for (size_t i = 0; i < count; i++)
        rows[i] = param_source_blocks(p->w, first + i);
    panels_pack_stored(p->gemm, in, out, first, count, param_source_type(p->w), rows, p->panels);
}

bool source_panels_takes_blocks(const kernels_gemm *gemm, const rapt_param *w)
{
    for (const int *id = gemm->stored; *id; id++)
        if (*id == param_source_type(w))
            return true;
    return false;
}

/* A matrix with a source is packed from there: its own elements are not touched. */
static bool pack_source(source_packing p, pool *threads, pool_fn *fn)
{
    const size_t out = p.w->value.shape[0], in = p.w->value.shape[1];
    if (!param_has_source(p.w))
        param_refresh(p.w, threads);
    else if (fn != pack_block_columns && !(p.rows = malloc((size_t)pool_threads(threads) * p.count * in * sizeof *p.rows)))
        return false;
    pool_run(threads, (out + p.count - 1) / p.count, out * in, fn, &p);
    if (param_has_source(p.w))
        param_source_leave(p.w);
    free(p.rows);
    return true;
}

bool source_panels_turned(const kernels_gemm *gemm, const rapt_param *w, pool *threads, rapt_real *panels)
{
    const source_packing p = {gemm, w, panels, NULL, COLUMNS};
    return pack_source(p, threads, source_panels_takes_blocks(gemm, w) ? pack_block_columns : pack_columns);
}

bool source_panels_straight(const kernels_gemm *gemm, const rapt_param *w, pool *threads, rapt_real *panels)
{
    return pack_source((source_packing){gemm, w, panels, NULL, DEPTH}, threads, pack_depth);
}
