/* ops/held_weight.c: packs a weight from its file before each product. That costs a pass over the file's matrix, little beside a
 * product with hundreds of rows, and the memory of one layer in place of all. The packed numbers are the ones of a matrix in
 * memory, and so are all bits. Or packs it once, and keeps that. */
#include "ops/held_weight.h"

#include "tape/observe_op.h"
#include "tensor/panels.h"
#include "tensor/param_source.h"
#include "tensor/params.h"
#include "tensor/source_panels.h"

/* An observer is shown the matrix itself. */
static bool is_held(const rapt_tape *t, const rapt_param *w)
{
    return param_source_is_held(w) && !observe_on(t);
}

void held_weight_refresh(const rapt_tape *t, const rapt_param *w)
{
    if (!is_held(t, w))
        tape_refresh_operand(t, w);
}

void held_weights_keep(rapt_params *set, const rapt_tape *t)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *w = params_at(set, i);
        const size_t *shape = w->value.shape;
        if (param_source_is_held(w))
            param_source_keep(set, w, t->team.gemm, (const size_t[]){panels_size(t->team.gemm, shape[0], shape[1]),
                                                                     panels_size(t->team.gemm, shape[1], shape[0])});
    }
}

static bool held_weight_pack(const rapt_tape *t, const rapt_param *w, bool turned, rapt_real *panels)
{
    return (turned ? source_panels_turned : source_panels_straight)(t->team.gemm, w, t->pool, panels);
}

/* The packed form that is kept, made in the first pass that records: other passes may run on several threads. NULL: there is
 * none. */
static const rapt_real *held_weight_kept(rapt_tape *t, const rapt_param *w, bool turned)
{
    param_kept *kept = param_source_kept(w, turned);
    if (!kept || kept->made_for != t->team.gemm || (!kept->filled && !t->pass.record))
        return NULL;
    if (!kept->filled && tape_computes(t))
        kept->filled = held_weight_pack(t, w, turned, kept->panels);
    return kept->filled || !tape_computes(t) ? kept->panels : NULL;
}

const rapt_real *held_weight(rapt_tape *t, const rapt_param *w, bool turned)
{
    if (!is_held(t, w))
        return NULL;
    const rapt_real *kept = held_weight_kept(t, w, turned);
    if (kept)
        return kept;
    const size_t out = w->value.shape[0], in = w->value.shape[1];
    const kernels_gemm *gemm = t->team.gemm;
    rapt_real *panels = tape_scratch(t, turned ? panels_size(gemm, in, out) : panels_size(gemm, out, in), sizeof *panels);
    const bool ok = !panels || !tape_computes(t) || held_weight_pack(t, w, turned, panels);
    if (!ok)
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory to pack %s", w->value.name);
    return ok ? panels : NULL;
}
