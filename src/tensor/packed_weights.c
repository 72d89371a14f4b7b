/* tensor/packed_weights.c: packs matrices on all threads. For inference only; nn/pack.c decides which matrices are packed. */
#include "tensor/packed_weights.h"

#include "tensor/panels.h"
#include "tensor/source_panels.h"

#include <stdlib.h>

#define CHUNK ((size_t)1 << 20)

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

rapt_code packed_weights_add(packed_weights *p, const rapt_param *w, const kernels_gemm *gemm, pool *threads, rapt_error *err)
{
    packed_weight *packed = &p->weights[w->index];
    size_t out = w->value.shape[0], in = w->value.shape[1];
    if (packed->param == w)
        return RAPT_OK;
    rapt_real *panels = arena_array(&p->memory, panels_size(gemm, in, out), sizeof *panels);
    if (!panels || !source_panels_turned(gemm, w, threads, panels))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to pack %s", w->value.name);
    *packed = (packed_weight){w, gemm, panels, panels_size(gemm, in, (size_t)gemm->nr) / (size_t)gemm->nr * out * sizeof *panels};
    p->bytes += packed->bytes;
    return RAPT_OK;
}
