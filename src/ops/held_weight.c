/* ops/held_weight.c: packs a weight from its file before each product. That costs a pass over the file's matrix, little beside a
 * product with hundreds of rows, and the memory of one layer in place of all. The packed numbers are the ones of a matrix in
 * memory, and so are all bits. */
#include "ops/held_weight.h"

#include "tape/observe_op.h"
#include "tensor/panels.h"
#include "tensor/param_source.h"
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

const rapt_real *held_weight(rapt_tape *t, const rapt_param *w, bool turned)
{
    if (!is_held(t, w))
        return NULL;
    const size_t out = w->value.shape[0], in = w->value.shape[1];
    const kernels_gemm *gemm = t->team.gemm;
    rapt_real *panels = tape_scratch(t, turned ? panels_size(gemm, in, out) : panels_size(gemm, out, in), sizeof *panels);
    const bool ok = !panels || !tape_computes(t) ||
                    (turned ? source_panels_turned : source_panels_straight)(gemm, w, t->pool, panels);
    if (!ok)
        rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory to pack %s", w->value.name);
    return ok ? panels : NULL;
}
