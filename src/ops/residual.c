/* ops/residual.c: the residual connection around a sublayer (He et al. 2016), with dropout on what is added (Vaswani et al. 2017,
 * section 5.4). For all blocks except post-norm blocks with layer norm, for which add_norm.c does this and the norm in one pass
 * over the rows. Backward: dx = dz, dy = dropout(dz). */
#include "ops/dropout_op.h"
#include "ops/elementwise_op.h"
#include "tape/observe_op.h"

rapt_tensor *rapt_op_residual(rapt_tape *t, rapt_tensor *x, rapt_tensor *y, rapt_residual residual)
{
    bool overwrite = residual.overwrite_y && x->data != y->data;
    rapt_tensor *dropped = dropout_run(t, y, residual.dropout, overwrite && tape_may_overwrite(t, y));
    if (dropped != y) /* dropped is this operation's own */
        observe_tensor(t, "dropped", "dropout", OBSERVE_ROWS, dropped);
    rapt_tensor *z = elementwise_add(t, x, dropped, (overwrite || dropped != y) && tape_may_overwrite(t, dropped));
    observe_from(t, (observe_source){.inputs = {x, dropped}});
    return observe_tensor(t, "sum", "x + sublayer", OBSERVE_ROWS, z);
}
