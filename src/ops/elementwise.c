/* ops/elementwise.c: add, scale, relu and the sums that serve as simple losses. For the stepwise forms of modules
 * and for tests; the fused operations have these built in. */
#include "ops/tape.h"

#include <string.h>

typedef struct elementwise_node {
    tape_node node;
    rapt_tensor *a, *b, *y;
    double alpha;
    const rapt_real *weights;
} elementwise_node;

static rapt_tensor *finish(rapt_tape *t, elementwise_node e, void (*backward)(rapt_tape *, tape_node *))
{
    if (!e.y->requires_grad)
        return e.y;
    elementwise_node *node = tape_alloc(t, 1, sizeof *node);
    if (!node)
        return &t->poison;
    *node = e;
    tape_record(t, &node->node, backward);
    return e.y;
}

/* dx (+)= alpha dy. */
static void pass_scaled(rapt_tape *t, rapt_tensor *x, const rapt_tensor *y, double alpha)
{
    bool accumulate;
    rapt_real *dx = tape_grad(t, x, &accumulate);
    if (!dx)
        return;
    if (accumulate)
        t->k->axpy(rapt_tensor_size(x), (rapt_real)alpha, y->grad, dx);
    else
        t->k->scale(rapt_tensor_size(x), (rapt_real)alpha, y->grad, dx);
}

static void add_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    if (!e->y->grad_filled)
        return;
    pass_scaled(t, e->a, e->y, 1);
    pass_scaled(t, e->b, e->y, 1);
}

rapt_tensor *rapt_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    char sa[96], sb[96];
    if (tape_failed(t))
        return &t->poison;
    if (!rapt_tensor_same_shape(a, b))
        return rapt_tape_fail(t, RAPT_SHAPE, "add: %s and %s differ", rapt_shape_text(a, sa, sizeof sa),
                              rapt_shape_text(b, sb, sizeof sb));
    rapt_tensor *y = tape_output_like(t, a, tape_wants(t, a) || tape_wants(t, b));
    if (!y)
        return &t->poison;
    t->k->add(rapt_tensor_size(a), a->data, b->data, y->data);
    return finish(t, (elementwise_node){.a = a, .b = b, .y = y}, add_backward);
}

static void scale_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    if (e->y->grad_filled)
        pass_scaled(t, e->a, e->y, e->alpha);
}

rapt_tensor *rapt_scale(rapt_tape *t, rapt_tensor *x, double alpha)
{
    if (tape_failed(t))
        return &t->poison;
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    if (!y)
        return &t->poison;
    t->k->scale(rapt_tensor_size(x), (rapt_real)alpha, x->data, y->data);
    return finish(t, (elementwise_node){.a = x, .y = y, .alpha = alpha}, scale_backward);
}

static void relu_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    size_t n = rapt_tensor_size(e->y);
    bool accumulate;
    rapt_real *dx = e->y->grad_filled ? tape_grad(t, e->a, &accumulate) : NULL;
    if (!dx)
        return;
    rapt_real *through = accumulate ? tape_scratch(t, n, sizeof *through) : dx;
    if (!through)
        return;
    t->k->relu_backward(n, e->y->data, e->y->grad, through);
    if (accumulate)
        t->k->add(n, dx, through, dx);
}

rapt_tensor *rapt_relu(rapt_tape *t, rapt_tensor *x)
{
    if (tape_failed(t))
        return &t->poison;
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    if (!y)
        return &t->poison;
    t->k->relu(rapt_tensor_size(x), x->data, y->data);
    return finish(t, (elementwise_node){.a = x, .y = y}, relu_backward);
}

static void weighted_sum_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    rapt_real *dx = e->y->grad_filled ? tape_grad_zeroed(t, e->a) : NULL;
    if (dx)
        t->k->axpy(rapt_tensor_size(e->a), e->y->grad[0], e->weights, dx);
}

rapt_tensor *rapt_weighted_sum(rapt_tape *t, rapt_tensor *x, const rapt_real *w)
{
    if (tape_failed(t))
        return &t->poison;
    size_t n = rapt_tensor_size(x);
    rapt_tensor *y = tape_output(t, 1, (size_t[]){1}, tape_wants(t, x));
    rapt_real *weights = tape_alloc(t, n, sizeof *weights);
    if (!y || !weights)
        return &t->poison;
    memcpy(weights, w, n * sizeof *w);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x->data[i] * (double)weights[i];
    y->data[0] = (rapt_real)sum;
    return finish(t, (elementwise_node){.a = x, .y = y, .weights = weights}, weighted_sum_backward);
}

rapt_tensor *rapt_sum(rapt_tape *t, rapt_tensor *x)
{
    arena_mark mark = tape_mark(t);
    rapt_real *ones = tape_failed(t) ? NULL : tape_scratch(t, rapt_tensor_size(x), sizeof *ones);
    if (!ones)
        return &t->poison;
    t->k->fill(rapt_tensor_size(x), 1, ones);
    rapt_tensor *y = rapt_weighted_sum(t, x, ones);
    tape_release(t, mark);
    return y;
}
