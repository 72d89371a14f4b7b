/* ops/elementwise.c: add, subtract, scale, relu and the sums that serve as simple losses. For the stepwise forms of modules and
 * for tests; fused operations include these. Smooth activations are in activation.c. */
#include "ops/elementwise_op.h"

#include "ops/elements.h"
#include "tape/profile_op.h"

#include <string.h>

typedef struct elementwise_node {
    tape_node node;
    rapt_tensor *a, *b, *y;
    double alpha;
    const rapt_real *weights;
} elementwise_node;

static rapt_tensor *elementwise_finish(rapt_tape *t, elementwise_node e, void (*backward)(rapt_tape *, tape_node *))
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

/* to (+)= alpha from. */
typedef struct scaling {
    const rapt_real *from;
    rapt_real *to, alpha;
    bool accumulate;
} scaling;

static void scale_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const scaling *s = context;
    (void)worker;
    (s->accumulate ? k->axpy : k->scale)(n, s->alpha, s->from + at, s->to + at);
}

/* dx (+)= alpha dy. */
static void pass_scaled(rapt_tape *t, rapt_tensor *x, const rapt_tensor *y, double alpha)
{
    bool accumulate;
    rapt_real *dx = tape_grad(t, x, &accumulate);
    if (dx)
        elements_run(t, rapt_tensor_size(x), 1, scale_block, &(scaling){y->grad, dx, (rapt_real)alpha, accumulate});
}

static void add_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    if (!e->y->grad_filled)
        return;
    profile_op(t, "add", 0, 2.0 * (double)rapt_tensor_size(e->y));
    pass_scaled(t, e->b, e->y, 1);
    if (!tape_move_grad(t, e->a, e->y))
        pass_scaled(t, e->a, e->y, 1);
}

static void add_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const elementwise_node *e = context;
    (void)worker;
    k->add(n, e->a->data + at, e->b->data + at, e->y->data + at);
}

rapt_tensor *elementwise_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b, bool overwrite)
{
    char sa[96], sb[96];
    if (tape_failed(t))
        return &t->poison;
    if (!rapt_tensor_same_shape(a, b))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "add: %s and %s differ", rapt_shape_text(a, sa, sizeof sa),
                              rapt_shape_text(b, sb, sizeof sb));
    rapt_tensor *y = tape_output_over(t, a, overwrite ? b : NULL, tape_wants(t, a) || tape_wants(t, b));
    if (!y)
        return &t->poison;
    elementwise_node e = {.a = a, .b = b, .y = y};
    profile_op(t, "add", 0, 3.0 * (double)rapt_tensor_size(y));
    elements_run(t, rapt_tensor_size(a), 1, add_block, &e);
    return elementwise_finish(t, e, add_backward);
}

rapt_tensor *rapt_op_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    if (!tape_failed(t) && !rapt_tensor_same_shape(a, b))
        return broadcast_add(t, a, b);
    return elementwise_add(t, a, b, false);
}

static void scale_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    profile_op(t, "scale", 0, 2.0 * (double)rapt_tensor_size(e->y));
    if (e->y->grad_filled)
        pass_scaled(t, e->a, e->y, e->alpha);
}

rapt_tensor *rapt_op_scale(rapt_tape *t, rapt_tensor *x, double alpha)
{
    if (tape_failed(t))
        return &t->poison;
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    if (!y)
        return &t->poison;
    profile_op(t, "scale", 0, 2.0 * (double)rapt_tensor_size(x));
    elements_run(t, rapt_tensor_size(x), 1, scale_block, &(scaling){x->data, y->data, (rapt_real)alpha, false});
    return elementwise_finish(t, (elementwise_node){.a = x, .y = y, .alpha = alpha}, scale_backward);
}

rapt_tensor *rapt_op_subtract(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    size_t shape[RAPT_MAX_DIMS];
    if (tape_failed(t) || broadcast_shape(t, "subtract", a, b, shape) == 0)
        return &t->poison;
    return rapt_op_add(t, a, rapt_op_scale(t, b, -1));
}

typedef struct relu_gradient {
    const rapt_tensor *y;
    rapt_real *dx, *scratch; /* scratch memory if dx holds a sum already, else NULL */
} relu_gradient;

static void relu_backward_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const relu_gradient *g = context;
    rapt_real *dx = g->dx + at, *through = g->scratch ? g->scratch + (size_t)worker * ELEMENTS_BLOCK : dx;
    k->relu_backward(n, g->y->data + at, g->y->grad + at, through);
    if (g->scratch)
        k->add(n, dx, through, dx);
}

static void relu_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    bool accumulate;
    rapt_real *dx = e->y->grad_filled ? tape_grad(t, e->a, &accumulate) : NULL;
    if (!dx)
        return;
    profile_op(t, "relu", 0, 3.0 * (double)rapt_tensor_size(e->y));
    relu_gradient g = {e->y, dx, accumulate ? elements_scratch(t) : NULL};
    if (!tape_failed(t))
        elements_run(t, rapt_tensor_size(e->y), 1, relu_backward_block, &g);
}

static void relu_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const elementwise_node *e = context;
    (void)worker;
    k->relu(n, e->a->data + at, e->y->data + at);
}

rapt_tensor *rapt_op_relu(rapt_tape *t, rapt_tensor *x)
{
    if (tape_failed(t))
        return &t->poison;
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    if (!y)
        return &t->poison;
    elementwise_node e = {.a = x, .y = y};
    profile_op(t, "relu", 0, 2.0 * (double)rapt_tensor_size(x));
    elements_run(t, rapt_tensor_size(x), 1, relu_block, &e);
    return elementwise_finish(t, e, relu_backward);
}

static void weighted_sum_backward(rapt_tape *t, tape_node *node)
{
    elementwise_node *e = (elementwise_node *)node;
    profile_op(t, "sum", 0, 2.0 * (double)rapt_tensor_size(e->a));
    rapt_real *dx = e->y->grad_filled ? tape_grad_zeroed(t, e->a) : NULL;
    if (dx && tape_computes(t))
        t->k->axpy(rapt_tensor_size(e->a), e->y->grad[0], e->weights, dx);
}

/* The sum, and a copy of the weights for the backward pass. */
static void elementwise_weigh(size_t n, const rapt_real *x, const rapt_real *w, rapt_real *weights, rapt_real *y)
{
    double sum = 0;
    memcpy(weights, w, n * sizeof *w);
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)weights[i];
    *y = (rapt_real)sum;
}

rapt_tensor *rapt_op_weighted_sum(rapt_tape *t, rapt_tensor *x, const rapt_real *w)
{
    if (tape_failed(t))
        return &t->poison;
    size_t n = rapt_tensor_size(x);
    rapt_tensor *y = tape_output(t, 1, (size_t[]){1}, tape_wants(t, x));
    rapt_real *weights = tape_elements(t, n);
    if (!y || !weights)
        return &t->poison;
    profile_op(t, "sum", 0, 2.0 * (double)n);
    if (tape_computes(t))
        elementwise_weigh(n, x->data, w, weights, y->data);
    return elementwise_finish(t, (elementwise_node){.a = x, .y = y, .weights = weights}, weighted_sum_backward);
}

rapt_tensor *rapt_op_sum(rapt_tape *t, rapt_tensor *x)
{
    arena_mark mark = tape_mark(t);
    rapt_real *ones = tape_failed(t) ? NULL : tape_scratch(t, rapt_tensor_size(x), sizeof *ones);
    if (!ones)
        return &t->poison;
    if (tape_computes(t))
        t->k->fill(rapt_tensor_size(x), 1, ones);
    rapt_tensor *y = rapt_op_weighted_sum(t, x, ones);
    tape_release(t, mark);
    return y;
}
