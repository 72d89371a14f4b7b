/* ops/exp_log.c: the exponential function and the natural logarithm, elementwise. For models that are written from single
 * operations; softmax and losses have both in their kernels.
 *
 * Backward: of y = exp(x), dx = y dy; of y = log(x), dx = dy / x, from a derivative that a recorded forward pass keeps. */
#include "ops/elements.h"

#include "base/math.h"
#include "tape/profile_op.h"

#define COST 8 /* per element, in elementary operations */

typedef struct exp_log_node {
    tape_node node;
    rapt_tensor *x, *y;
    rapt_real *slope; /* the derivative: of exp, y itself; of log, NULL in a pass that is not recorded */
} exp_log_node;

static void exp_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const exp_log_node *e = context;
    (void)worker;
    k->exp(n, e->x->data + at, e->y->data + at);
}

/* In double precision, and rounded once: no kernel has a logarithm, because nothing that takes time needs one. */
static void log_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const exp_log_node *e = context;
    (void)k, (void)worker;
    for (size_t i = at; i < at + n; i++) {
        const double x = (double)e->x->data[i];
        e->y->data[i] = (rapt_real)math_log(x);
        if (e->slope)
            e->slope[i] = (rapt_real)(1 / x);
    }
}

static void exp_log_backward(rapt_tape *t, tape_node *node)
{
    const exp_log_node *e = (exp_log_node *)node;
    bool accumulate;
    rapt_real *dx = e->y->grad_filled ? tape_grad(t, e->x, &accumulate) : NULL;
    profile_op(t, "exp_log", 0, 3.0 * (double)rapt_tensor_size(e->x));
    if (dx)
        elements_chain(t, rapt_tensor_size(e->x), e->slope, e->y->grad, dx, accumulate);
}

static rapt_tensor *exp_log_run(rapt_tape *t, rapt_tensor *x, elements_fn *fn)
{
    if (tape_failed(t))
        return &t->poison;
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    exp_log_node *node = tape_alloc(t, 1, sizeof *node);
    if (tape_failed(t))
        return &t->poison;
    rapt_real *slope = !y->requires_grad ? NULL : fn == exp_block ? y->data : tape_elements(t, rapt_tensor_size(x));
    if (tape_failed(t))
        return &t->poison;
    *node = (exp_log_node){.x = x, .y = y, .slope = slope};
    profile_op(t, "exp_log", 0, 2.0 * (double)rapt_tensor_size(x));
    elements_run(t, rapt_tensor_size(x), COST, fn, node);
    if (y->requires_grad)
        tape_record(t, &node->node, exp_log_backward);
    return y;
}

rapt_tensor *rapt_op_exp(rapt_tape *t, rapt_tensor *x)
{
    return exp_log_run(t, x, exp_block);
}

rapt_tensor *rapt_op_log(rapt_tape *t, rapt_tensor *x)
{
    return exp_log_run(t, x, log_block);
}
