/* ops/linear.c: y = activation(x w^T + b). For every projection of a model. Bias and activation are the tail of the
 * matrix product, so y is written once.
 *
 * Backward, with dz = dy where the activation let it through: dx = dz w, dw = dz^T x, db = sum over rows of dz. */
#include "ops/tape.h"

#include <string.h>

typedef struct linear_node {
    tape_node node;
    rapt_tensor *x, *w, *b, *y;
    rapt_param *weight; /* w is its value */
    rapt_activation activation;
} linear_node;

static rapt_tensor *check(rapt_tape *t, const rapt_tensor *x, const rapt_tensor *w, const rapt_tensor *b)
{
    size_t in = rapt_tensor_features(x);
    if (w->ndim != 2 || w->shape[1] != in)
        return rapt_tape_fail(t, RAPT_SHAPE, "linear %s: input has %zu features, weight wants %zu", w->name, in,
                              w->ndim == 2 ? w->shape[1] : 0);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return rapt_tape_fail(t, RAPT_SHAPE, "linear %s: bias has %zu elements, output %zu", w->name,
                              rapt_tensor_size(b), w->shape[0]);
    return NULL;
}

/* dz: the gradient before the activation. */
static const rapt_real *through_activation(rapt_tape *t, const linear_node *l)
{
    size_t n = rapt_tensor_size(l->y);
    if (l->activation == RAPT_IDENTITY)
        return l->y->grad;
    rapt_real *dz = tape_scratch(t, n, sizeof *dz);
    if (dz)
        t->k->relu_backward(n, l->y->data, l->y->grad, dz);
    return dz;
}

static void input_gradient(rapt_tape *t, const linear_node *l, const rapt_real *dz)
{
    size_t rows = rapt_tensor_rows(l->x), in = l->w->shape[1], out = l->w->shape[0];
    bool accumulate;
    rapt_real *dx = tape_grad(t, l->x, &accumulate);
    if (dx)
        gemm(&t->team, &(gemm_job){.m = rows, .n = in, .k = out, .a = {dz, (ptrdiff_t)out, 1},
                                   .b = {l->w->data, (ptrdiff_t)in, 1}, .c = dx, .tail = {.accumulate = accumulate}});
}

static void weight_gradient(rapt_tape *t, const linear_node *l, const rapt_real *dz)
{
    size_t rows = rapt_tensor_rows(l->x), in = l->w->shape[1], out = l->w->shape[0];
    bool accumulate;
    rapt_real *dw = tape_grad(t, l->w, &accumulate);
    if (dw)
        gemm(&t->team, &(gemm_job){.m = out, .n = in, .k = rows, .a = {dz, 1, (ptrdiff_t)out},
                                   .b = {l->x->data, (ptrdiff_t)in, 1}, .c = dw, .tail = {.accumulate = accumulate}});
    if (dw && l->weight->sparse) /* an embedding that is the output matrix too */
        memset(l->weight->row_used, 1, out);
    rapt_real *db = tape_grad_zeroed(t, l->b);
    if (db)
        t->k->column_sums(rows, out, dz, out, db);
}

static void backward(rapt_tape *t, tape_node *node)
{
    linear_node *l = (linear_node *)node;
    if (!l->y->grad_filled)
        return;
    const rapt_real *dz = through_activation(t, l);
    if (!dz)
        return;
    weight_gradient(t, l, dz);
    input_gradient(t, l, dz);
}

static void record(rapt_tape *t, linear_node l)
{
    linear_node *node = tape_alloc(t, 1, sizeof *node);
    if (!node)
        return;
    *node = l;
    tape_record(t, &node->node, backward);
}

/* Packed for these kernels, and not about to change. */
static const rapt_real *packed_weight(const rapt_tape *t, const rapt_param *w)
{
    return t->pass.record || w->packed_columns != t->k->nr ? NULL : w->packed;
}

rapt_tensor *rapt_linear_op(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_activation activation)
{
    rapt_tensor *wt = &w->value, *bt = b ? &b->value : NULL, *bad;
    if (tape_failed(t))
        return &t->poison;
    if ((bad = check(t, x, wt, bt)))
        return bad;
    size_t shape[RAPT_MAX_DIMS], rows = rapt_tensor_rows(x), in = wt->shape[1], out = wt->shape[0];
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i + 1 < x->ndim ? x->shape[i] : out;
    bool grad = tape_wants(t, x) || tape_wants(t, wt) || tape_wants(t, bt);
    rapt_tensor *y = tape_output(t, x->ndim, shape, grad);
    if (!y)
        return &t->poison;
    y->name = wt->name;
    gemm(&t->team, &(gemm_job){.m = rows, .n = out, .k = in, .a = {x->data, (ptrdiff_t)in, 1},
                               .b = {wt->data, 1, (ptrdiff_t)in}, .packed = packed_weight(t, w), .c = y->data,
                               .tail = {.bias = bt ? bt->data : NULL, .relu = activation == RAPT_RELU}});
    if (grad)
        record(t, (linear_node){.x = x, .w = wt, .b = bt, .y = y, .weight = w, .activation = activation});
    return y;
}
