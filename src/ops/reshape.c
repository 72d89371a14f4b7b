/* ops/reshape.c: a view of a tensor in another shape. For modules that divide the rows of a batch in two ways; neither
 * elements nor gradients are copied. */
#include "ops/elements.h"
#include "tape/profile_op.h"

#include <string.h>

typedef struct reshape_node {
    tape_node node;
    rapt_tensor *x, *y;
} reshape_node;

typedef struct reshape_gradient {
    const rapt_real *dy;
    rapt_real *dx;
    bool accumulate;
} reshape_gradient;

static void reshape_backward_block(const kernels *k, const void *context, size_t at, size_t n, int worker)
{
    const reshape_gradient *g = context;
    (void)worker;
    if (g->accumulate)
        k->add(n, g->dx + at, g->dy + at, g->dx + at);
    else
        memcpy(g->dx + at, g->dy + at, n * sizeof *g->dx);
}

static void reshape_backward(rapt_tape *t, tape_node *node)
{
    reshape_node *r = (reshape_node *)node;
    reshape_gradient g = {.dy = r->y->grad};
    if (!r->y->grad_filled || tape_move_grad(t, r->x, r->y))
        return;
    profile_op(t, "reshape", 0, 2.0 * (double)rapt_tensor_size(r->y));
    g.dx = tape_grad(t, r->x, &g.accumulate);
    if (g.dx)
        elements_run(t, rapt_tensor_size(r->y), 1, reshape_backward_block, &g);
}

/* Whether x's elements fill the shape, and the examples of `ragged` its rows. */
static bool reshape_fits(const rapt_tensor *x, int ndim, const size_t *shape, const rapt_ragged *ragged)
{
    size_t n = ndim >= 1 && ndim <= RAPT_MAX_DIMS ? 1 : 0;
    for (int i = 0; i < ndim && n > 0; i++)
        n = shape[i] > 0 && shape[i] <= rapt_tensor_size(x) / n ? n * shape[i] : 0;
    return n == rapt_tensor_size(x) && (!ragged || (ndim == 2 && ragged->start[ragged->batch] == shape[0]));
}

rapt_tensor *rapt_op_reshape(rapt_tape *t, rapt_tensor *x, int ndim, const size_t *shape, const rapt_ragged *ragged)
{
    char from[96], to[96];
    rapt_tensor wanted = {.ndim = ndim};
    if (tape_failed(t))
        return &t->poison;
    memcpy(wanted.shape, shape, (size_t)(ndim < 0 ? 0 : ndim > RAPT_MAX_DIMS ? RAPT_MAX_DIMS : ndim) * sizeof *shape);
    if (!reshape_fits(x, ndim, shape, ragged))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "reshape: %s does not become %s", rapt_shape_text(x, from, sizeof from),
                              ndim < 0 || ndim > RAPT_MAX_DIMS ? "a tensor" : rapt_shape_text(&wanted, to, sizeof to));
    reshape_node *node = tape_alloc(t, 1, sizeof *node);
    rapt_tensor *y = tape_view(t, x, ndim, shape);
    if (tape_failed(t))
        return &t->poison;
    y->ragged = ragged;
    *node = (reshape_node){.x = x, .y = y};
    if (y->requires_grad)
        tape_record(t, &node->node, reshape_backward);
    return y;
}
