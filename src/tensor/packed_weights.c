/* tensor/packed_weights.c: packs matrices on all threads. For inference only; nn/pack.c decides which matrices are packed. */
#include "tensor/packed_weights.h"

#include "tensor/panels.h"
#include "tensor/param_source.h"

#include <stdlib.h>

#define CHUNK ((size_t)1 << 20)
#define ROWS ((size_t)KERNELS_MAX_NR) /* that a thread packs at a time: whole panels of every kernel */

packed_weights *packed_weights_new(const rapt_params *set, const kernels_gemm *made_for, rapt_error *err)
{
    packed_weights *p = calloc(1, sizeof *p);
    if (p) {
        arena_init(&p->memory, CHUNK);
        p->made_for = made_for;
        p->count = rapt_params_count(set);
        p->weights = arena_zeroed(&p->memory, p->count, sizeof *p->weights);
    }
    if (p && p->weights)
        return p;
    packed_weights_free(p);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for packed weights");
    return NULL;
}

void packed_weights_free(packed_weights *p)
{
    if (!p)
        return;
    arena_free(&p->memory);
    free(p);
}

/* Packs rows of W [out, in], which are columns of the panels of W^T. */
typedef struct packing {
    const kernels_gemm *gemm;
    const rapt_param *w;
    rapt_real *panels;
    rapt_real *rows; /* [threads][ROWS, in] rows that were read from the source of W, if it has one */
} packing;

static void pack_rows(void *context, size_t chunk, int worker)
{
    const packing *p = context;
    const size_t out = p->w->value.shape[0], in = p->w->value.shape[1], first = chunk * ROWS;
    const size_t count = out - first < ROWS ? out - first : ROWS;
    const rapt_real *from = p->w->value.data + first * in;
    if (p->rows) {
        rapt_real *to = p->rows + (size_t)worker * ROWS * in;
        param_source_read(p->w, first, count, to);
        from = to;
    }
    panels_pack_columns(p->gemm, in, out, first, count, &(matrix){from, 1, (ptrdiff_t)in}, p->panels);
}

/* Packs rows that are stored as blocks, which the kernels take unchanged. */
static void pack_block_rows(void *context, size_t chunk, int worker)
{
    const packing *p = context;
    const size_t out = p->w->value.shape[0], in = p->w->value.shape[1], first = chunk * ROWS;
    const size_t count = out - first < ROWS ? out - first : ROWS;
    const uint8_t *rows[ROWS];
    (void)worker;
    for (size_t i = 0; i < count; i++)
        rows[i] = param_source_blocks(p->w, first + i);
    panels_pack_stored(p->gemm, in, out, first, count, param_source_type(p->w), rows, p->panels);
}

static bool takes_blocks(const kernels_gemm *gemm, const rapt_param *w)
{
    for (const int *id = gemm->stored; *id; id++)
        if (*id == param_source_type(w))
            return true;
    return false;
}

/* A matrix with a source is packed from there: its own elements are not touched. */
static bool pack_panels(packing p, pool *threads)
{
    const size_t out = p.w->value.shape[0], in = p.w->value.shape[1];
    if (takes_blocks(p.gemm, p.w)) {
        pool_run(threads, (out + ROWS - 1) / ROWS, out * in, pack_block_rows, &p);
        param_source_leave(p.w);
        return true;
    }
    if (!param_has_source(p.w))
        param_refresh(p.w, threads);
    else if (!(p.rows = malloc((size_t)pool_threads(threads) * ROWS * in * sizeof *p.rows)))
        return false;
    pool_run(threads, (out + ROWS - 1) / ROWS, out * in, pack_rows, &p);
    if (p.rows)
        param_source_leave(p.w);
    free(p.rows);
    return true;
}

rapt_code packed_weights_add(packed_weights *p, const rapt_param *w, const kernels_gemm *gemm, pool *threads, rapt_error *err)
{
    packed_weight *packed = &p->weights[w->index];
    size_t out = w->value.shape[0], in = w->value.shape[1];
    if (packed->param == w)
        return RAPT_OK;
    rapt_real *panels = arena_array(&p->memory, panels_size(gemm, in, out), sizeof *panels);
    if (!panels || !pack_panels((packing){gemm, w, panels, NULL}, threads))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to pack %s", w->value.name);
    *packed = (packed_weight){w, gemm, panels, panels_size(gemm, in, (size_t)gemm->nr) / (size_t)gemm->nr * out * sizeof *panels};
    p->bytes += packed->bytes;
    return RAPT_OK;
}
