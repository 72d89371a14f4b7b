/* ops/softcap.c: cap tanh(x / cap), which bounds logits (Gemma 2); with a cap of 1, tanh. The attention caps its scores itself.
 *
 * Backward: dx = (1 - tanh^2) dy, from a derivative that a recorded forward pass keeps. */
#include "ops/elements.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#define COST 4 /* per element, in elementary operations */

typedef struct softcap_node {
    tape_node node;
    rapt_tensor *x, *y;
    rapt_real cap, *slope; /* slope: NULL in a pass that is not recorded */
} softcap_node;

static void softcap_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const softcap_node *s = context;
    (void)worker;
    k->softcap(n, 1, s->cap, s->x->data + at, s->y->data + at, s->slope ? s->slope + at : NULL);
}

static void softcap_backward(rapt_tape *t, tape_node *node)
{
    const softcap_node *s = (softcap_node *)node;
    bool accumulate;
    rapt_real *dx = s->y->grad_filled ? tape_grad(t, s->x, &accumulate) : NULL;
    profile_op(t, "softcap", 0, 3.0 * (double)rapt_tensor_size(s->x));
    if (dx)
        elements_chain(t, rapt_tensor_size(s->x), s->slope, s->y->grad, dx, accumulate);
}

rapt_tensor *rapt_op_softcap(rapt_tape *t, rapt_tensor *x, double cap)
{
    if (tape_failed(t))
        return &t->poison;
    if (!(cap > 0))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "softcap: a cap of %g", cap);
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    softcap_node *node = tape_alloc(t, 1, sizeof *node);
    rapt_real *slope = y && y->requires_grad ? tape_elements(t, rapt_tensor_size(x)) : NULL;
    if (tape_failed(t))
        return &t->poison;
    *node = (softcap_node){.x = x, .y = y, .cap = (rapt_real)cap, .slope = slope};
    profile_op(t, "softcap", 0, (slope ? 3.0 : 2.0) * (double)rapt_tensor_size(x));
    elements_run(t, rapt_tensor_size(x), COST, softcap_block, node);
    if (y->requires_grad)
        tape_record(t, &node->node, softcap_backward);
    return y;
}

rapt_tensor *rapt_op_tanh(rapt_tape *t, rapt_tensor *x)
{
    return rapt_op_softcap(t, x, 1);
}
