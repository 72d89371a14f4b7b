/* tensor/packed_weights.c: packs matrices on all threads. For inference only; nn/pack.c decides which matrices are packed. */
#include "tensor/packed_weights.h"

#include "tensor/panels.h"
#include "tensor/param_source.h"
#include "tensor/params.h"
#include "tensor/source_panels.h"

#include <stdlib.h>

#define CHUNK ((size_t)1 << 20)

/* Or else the whole file would be in memory beside the first panels; and what is not packed would stay. */
static void packed_weights_leave(const packed_weights *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (param_has_source(params_at(p->set, i)))
            param_source_leave(params_at(p->set, i));
}

packed_weights *packed_weights_new(const rapt_params *set, const kernels_gemm *made_for, bool waits, rapt_error *err)
{
    packed_weights *p = calloc(1, sizeof *p);
    if (p) {
        arena_init(&p->memory, CHUNK);
        p->made_for = made_for;
        p->set = set;
        p->waits = waits;
        p->count = rapt_params_count(set);
        p->weights = arena_zeroed(&p->memory, p->count, sizeof *p->weights);
    }
    if (p && p->weights && !waits)
        packed_weights_leave(p);
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

static rapt_code packed_weights_pack(packed_weights *p, packed_weight *packed, pool *threads, rapt_error *err)
{
    const rapt_param *w = packed->param;
    const kernels_gemm *gemm = packed->gemm;
    const size_t out = w->value.shape[0], in = w->value.shape[1];
    rapt_real *panels = arena_array(&p->memory, panels_size(gemm, in, out), sizeof *panels);
    if (!panels || !source_panels_turned(gemm, w, threads, panels))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to pack %s", w->value.name);
    packed->panels = panels;
    p->bytes -= packed->bytes;
    packed->bytes = panels_size(gemm, in, (size_t)gemm->nr) / (size_t)gemm->nr * out * sizeof *panels;
    p->bytes += packed->bytes;
    return RAPT_OK;
}

rapt_code packed_weights_add(packed_weights *p, const rapt_param *w, const kernels_gemm *gemm, pool *threads, rapt_error *err)
{
    packed_weight *packed = &p->weights[w->index];
    if (packed->param == w)
        return RAPT_OK;
    *packed = (packed_weight){.param = w, .gemm = gemm};
    if (!p->waits || !source_panels_takes_blocks(gemm, w))
        return packed_weights_pack(p, packed, threads, err);
    const block_format *format = blocks_of_id(param_source_type(w));
    packed->bytes = rapt_tensor_size(&w->value) / format->elements * format->bytes;
    p->bytes += packed->bytes;
    return RAPT_OK;
}

static bool packed_weight_waits(const packed_weight *packed)
{
    return packed->param && !packed->panels;
}

rapt_code packed_weights_complete(packed_weights *p, pool *threads, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (p->waits)
        packed_weights_leave(p);
    p->waits = false;
    for (size_t i = 0; !code && i < p->count; i++)
        if (packed_weight_waits(&p->weights[i]))
            code = packed_weights_pack(p, &p->weights[i], threads, err);
    return code;
}
