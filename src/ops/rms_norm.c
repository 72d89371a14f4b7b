/* ops/rms_norm.c: root mean square norm over the last dimension. For pre-norm language models. Layer norm and the residual are in
 * add_norm.c. kernels.h has the formula of the backward pass at rms_norm_backward; gamma's gradient is a sum over fixed chunks of
 * rows, whose partial sums are added in order. */
#include "tape/observe_op.h"
#include "tape/profile_op.h"

#include <string.h>

typedef struct rms_node {
    tape_node node;
    rapt_tensor *x, *gamma, *y; /* gamma may be NULL */
    rapt_real *rstd;            /* [rows] */
    size_t rows, width;
    double eps;
} rms_node;

typedef struct rms_loop {
    const kernels *k;
    const rms_node *n;
    rapt_real *dx; /* or NULL */
    bool add;
    rapt_real *scratch;  /* a row for each worker */
    rapt_real *partials; /* [chunks][width] for dgamma, or NULL */
} rms_loop;

static const rapt_real *gamma_of(const rms_node *n)
{
    return n->gamma ? n->gamma->data : NULL;
}

static void rms_norm_forward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rms_loop *loop = context;
    const rms_node *n = loop->n;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++)
        loop->k->rms_norm(n->width, n->x->data + i * n->width, gamma_of(n), (rapt_real)n->eps, n->y->data + i * n->width,
                          &n->rstd[i]);
}

static void rms_norm_backward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const rms_loop *loop = context;
    const rms_node *n = loop->n;
    rapt_real *partial = loop->partials ? loop->partials + chunk * n->width : NULL;
    for (size_t i = first; i < last; i++) {
        rapt_real *dx = loop->dx ? loop->dx + i * n->width : NULL;
        rapt_real *to = dx && !loop->add ? dx : loop->scratch + (size_t)worker * n->width;
        loop->k->rms_norm_backward(n->width, n->y->grad + i * n->width, n->x->data + i * n->width, gamma_of(n),
                                   n->rstd[i], to, partial);
        if (dx && loop->add)
            loop->k->add(n->width, dx, to, dx);
    }
}

static rapt_real *rms_norm_zeroed_scratch(rapt_tape *t, size_t n)
{
    rapt_real *p = tape_scratch(t, n, sizeof *p);
    return p && tape_computes(t) ? memset(p, 0, n * sizeof *p) : p;
}

static void rms_norm_backward(rapt_tape *t, tape_node *node)
{
    const rms_node *n = (rms_node *)node;
    if (!n->y->grad_filled)
        return;
    rms_loop loop = {.k = t->k, .n = n};
    profile_op(t, "norm", 0, 3.0 * (double)rapt_tensor_size(n->x));
    size_t chunks = tape_chunks(n->rows, n->width);
    rapt_real *dgamma = tape_grad_zeroed(t, n->gamma);
    loop.scratch = tape_scratch(t, n->width * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    loop.partials = dgamma ? rms_norm_zeroed_scratch(t, chunks * n->width) : NULL;
    loop.dx = tape_grad(t, n->x, &loop.add);
    if (tape_failed(t))
        return;
    tape_units(t, n->rows, n->width, rms_norm_backward_rows, &loop);
    if (dgamma && tape_computes(t))
        t->k->column_sums(chunks, n->width, loop.partials, n->width, dgamma);
}

static rapt_tensor *rms_norm_run(rapt_tape *t, rms_node n)
{
    rms_node *node = tape_alloc(t, 1, sizeof *node);
    n.y = tape_output_like(t, n.x, tape_wants(t, n.x) || tape_wants(t, n.gamma));
    n.rstd = tape_elements(t, n.rows);
    if (tape_failed(t))
        return &t->poison;
    n.y->name = n.gamma ? n.gamma->name : NULL;
    *node = n;
    profile_op(t, "norm", 0, 2.0 * (double)rapt_tensor_size(n.x));
    tape_units(t, n.rows, n.width, rms_norm_forward_rows, &(rms_loop){.k = t->k, .n = node});
    if (n.y->requires_grad)
        tape_record(t, &node->node, rms_norm_backward);
    return n.y;
}

rapt_tensor *rapt_op_rms_norm(rapt_tape *t, rapt_tensor *x, rapt_param *gamma, double eps)
{
    char sg[96], sx[96];
    rapt_tensor *g = gamma ? &gamma->value : NULL;
    if (tape_failed(t))
        return &t->poison;
    if (g && (g->ndim != 1 || g->shape[0] != rapt_tensor_features(x)))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "rms_norm %s: the weight's shape %s does not end %s", g->name,
                              rapt_shape_text(g, sg, sizeof sg), rapt_shape_text(x, sx, sizeof sx));
    if (gamma)
        tape_refresh(t, gamma);
    rapt_tensor *y = rms_norm_run(t, (rms_node){.x = x, .gamma = g, .rows = rapt_tensor_rows(x),
                                                .width = rapt_tensor_features(x), .eps = eps});
    observe_from(t, (observe_source){.inputs = {x}, .parameters = {g}, .constant = eps});
    return observe_tensor(t, "output", "x / sqrt(mean(x^2) + eps) * gamma", OBSERVE_ROWS, y);
}
