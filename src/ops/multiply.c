/* ops/multiply.c: the elementwise product, for gates without a fused operation (activation.c fuses SwiGLU). Operands of
 * different shapes are expanded first.
 *
 * Backward: da = dy b, db = dy a. */
#include "ops/elementwise_op.h"
#include "ops/elements.h"
#include "tape/profile_op.h"

typedef struct multiply_node {
    tape_node node;
    rapt_tensor *a, *b, *y;
} multiply_node;

static void multiply_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const multiply_node *m = context;
    (void)worker;
    k->mul(n, m->a->data + at, m->b->data + at, m->y->data + at);
}

/* dx (+)= dy other. */
static void multiply_pass(rapt_tape *t, const rapt_tensor *y, rapt_tensor *x, const rapt_tensor *other)
{
    bool accumulate;
    rapt_real *dx = tape_grad(t, x, &accumulate);
    if (dx)
        elements_chain(t, rapt_tensor_size(x), y->grad, other->data, dx, accumulate);
}

static void multiply_backward(rapt_tape *t, tape_node *node)
{
    const multiply_node *m = (multiply_node *)node;
    if (!m->y->grad_filled)
        return;
    profile_op(t, "multiply", 0, 4.0 * (double)rapt_tensor_size(m->y));
    multiply_pass(t, m->y, m->a, m->b);
    multiply_pass(t, m->y, m->b, m->a);
}

/* The product of different shapes. */
static rapt_tensor *multiply_broadcast(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    size_t shape[RAPT_MAX_DIMS];
    const int ndim = broadcast_shape(t, "multiply", a, b, shape);
    if (ndim == 0)
        return &t->poison;
    return rapt_op_multiply(t, rapt_op_expand(t, a, ndim, shape), rapt_op_expand(t, b, ndim, shape));
}

rapt_tensor *rapt_op_multiply(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    if (tape_failed(t))
        return &t->poison;
    if (!rapt_tensor_same_shape(a, b))
        return multiply_broadcast(t, a, b);
    rapt_tensor *y = tape_output_like(t, a, tape_wants(t, a) || tape_wants(t, b));
    multiply_node *node = tape_alloc(t, 1, sizeof *node);
    if (tape_failed(t))
        return &t->poison;
    y->ragged = a->ragged ? a->ragged : b->ragged;
    *node = (multiply_node){.a = a, .b = b, .y = y};
    profile_op(t, "multiply", 0, 3.0 * (double)rapt_tensor_size(y));
    elements_run(t, rapt_tensor_size(y), 1, multiply_block, node);
    if (y->requires_grad)
        tape_record(t, &node->node, multiply_backward);
    return y;
}
