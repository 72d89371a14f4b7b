/* tape/tape_backward.c: gradients of a pass, and the backward traversal that fills them. For the operations, which do all the
 * arithmetic. */
#include "tape/grad_bf16.h"
#include "tape/grad_watch.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <math.h>
#include <string.h>

static rapt_real *new_grad(rapt_tape *t, size_t size)
{
    rapt_real *grad = free_list_take(&t->free_list, size);
    return grad ? grad : tape_elements(t, free_list_size(size));
}

rapt_real *tape_grad(rapt_tape *t, rapt_tensor *x, bool *accumulate)
{
    if (!tape_wants(t, x))
        return NULL;
    if (observe_on(t))
        observe_reached(t, x);
    if (!x->grad) /* parameters have gradient memory of their own */
        x->grad = new_grad(t, rapt_tensor_size(x));
    if (!x->grad)
        return NULL;
    if (x->grad_bf16)
        return grad_bf16_open(t, x, accumulate);
    *accumulate = x->grad_filled;
    x->grad_filled = true;
    if (t->watch.fn)
        grad_watch_note(t, x);
    return x->grad;
}

rapt_real *tape_grad_zeroed(rapt_tape *t, rapt_tensor *x)
{
    bool filled;
    rapt_real *grad = tape_grad(t, x, &filled);
    if (grad && !filled && tape_computes(t))
        memset(grad, 0, rapt_tensor_size(x) * sizeof *grad);
    return grad;
}

bool tape_move_grad(rapt_tape *t, rapt_tensor *x, rapt_tensor *y)
{
    if (t->pass.keep_gradients || observe_on(t) || !tape_wants(t, x) || x->grad)
        return false;
    x->grad = y->grad;
    x->grad_filled = true;
    y->grad = NULL;
    y->grad_filled = false;
    return true;
}

void tape_reserve_grad(rapt_tape *t, rapt_tensor *x)
{
    if (tape_wants(t, x) && !x->grad)
        x->grad = new_grad(t, rapt_tensor_size(x));
}

/* After a node's backward pass, the gradients of its results are not read again: their buffers go to the free list. */
static void tape_free_gradients(rapt_tape *t, const tape_node *node)
{
    const tape_result *earlier = node->previous ? node->previous->results : NULL;
    for (tape_result *r = node->results; r != earlier; r = r->previous) {
        if (!r->tensor.grad || r->keeps_grad)
            continue;
        free_list_give(&t->free_list, r->tensor.grad, rapt_tensor_size(&r->tensor));
        r->tensor.grad = NULL;
        r->tensor.grad_filled = false;
    }
}

void tape_traverse(rapt_tape *t)
{
    for (tape_node *node = t->last; node && !tape_failed(t); node = node->previous) {
        arena_mark mark = tape_mark(t);
        node->backward(t, node);
        grad_bf16_close(t);
        tape_release(t, mark);
        if (t->watch.count > 0)
            grad_watch_tell(t);
        if (!t->pass.keep_gradients && !observe_on(t))
            tape_free_gradients(t, node);
    }
}

static void tape_run_backward(rapt_tape *t)
{
    t->in_backward = true;
    tape_traverse(t);
    profile_end(t);
    t->in_backward = false;
}

rapt_code rapt_backward(rapt_tape *t, rapt_tensor *loss, rapt_error *err)
{
    if (!tape_failed(t) && rapt_tensor_size(loss) != 1)
        rapt_tape_fail(t, RAPT_ERR_SHAPE, "backward: the loss has %zu elements, not one", rapt_tensor_size(loss));
    if (!tape_failed(t) && !tape_wants(t, loss))
        rapt_tape_fail(t, RAPT_ERR_VALUE, "backward: nothing was recorded that needs a gradient");
    if (!tape_failed(t) && t->traversed)
        rapt_tape_fail(t, RAPT_ERR_VALUE, "backward: the backward pass of this pass was run already");
    if (!tape_failed(t) && tape_computes(t) && !isfinite((double)loss->data[0]))
        rapt_tape_fail(t, RAPT_ERR_NOT_FINITE, "backward: the loss is %g", (double)loss->data[0]);
    bool filled;
    rapt_real *grad = tape_failed(t) ? NULL : tape_grad(t, loss, &filled);
    if (grad && tape_computes(t))
        grad[0] = 1;
    if (grad) {
        t->traversed = true;
        tape_run_backward(t);
        if (observe_on(t))
            observe_gradients(t);
    }
    return rapt_tape_status(t, err);
}
