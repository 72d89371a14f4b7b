/* nn/pack.c: weights packed for inference, once and not at every product; see pack.h. */
#include "nn/pack.h"

#include "ops/tape_core.h"

rapt_code pack_linear(rapt_params *set, const rapt_tape *t, const rapt_linear *l, rapt_error *err)
{
    rapt_param *w = l->weight;
    size_t out = w->value.shape[0], in = w->value.shape[1];
    const kernels_gemm *g = t->team.products;
    if (w->packed && w->packed_for == g)
        return RAPT_OK;
    size_t size = panels_size(g, in, out);
    if (w->panels_size < size) {
        w->packed = NULL;
        w->panels = rapt_params_alloc(set, size, sizeof *w->panels);
        w->panels_size = w->panels ? size : 0;
    }
    if (!w->panels)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory to pack %s", w->value.name);
    panels_pack(g, in, out, (matrix){w->value.data, 1, (ptrdiff_t)in}, w->panels);
    w->packed = w->panels;
    w->packed_for = g;
    return RAPT_OK;
}

rapt_code pack_attention(rapt_params *set, const rapt_tape *t, const rapt_multi_head_attention *a, rapt_error *err)
{
    bool ok = !pack_linear(set, t, &a->q, err) && !pack_linear(set, t, &a->k, err) &&
              !pack_linear(set, t, &a->v, err) && !pack_linear(set, t, &a->o, err);
    return ok ? RAPT_OK : RAPT_ERR_MEMORY;
}

rapt_code pack_ffn(rapt_params *set, const rapt_tape *t, const rapt_ffn *f, rapt_error *err)
{
    bool ok = (!f->gate.weight || !pack_linear(set, t, &f->gate, err)) && !pack_linear(set, t, &f->dense1, err) &&
              !pack_linear(set, t, &f->dense2, err);
    return ok ? RAPT_OK : RAPT_ERR_MEMORY;
}
