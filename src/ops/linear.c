/* ops/linear.c: y = activation(x w^T + b). For every projection of a model. Bias and ReLU are the tail of the matrix
 * product, so y is written once; a curved activation follows it, over y, or over its own derivative f' where a
 * backward pass will come, which needs that and not z = x w^T + b.
 *
 * Backward, with dz = f'(z) dy: dx = dz w, dw = dz^T x, db = sum over rows of dz. */
#include "ops/activation.h"
#include "ops/elements.h"

#include <string.h>

#define SUM_COLUMNS 64 /* of a bias gradient that one thread adds up */

typedef struct linear_node {
    tape_node node;
    rapt_tensor *x, *w, *b, *y;
    rapt_param *weight; /* w is its value */
    rapt_activation activation;
    rapt_real *slope;   /* f'(z) of a curved activation, else NULL */
} linear_node;

static rapt_tensor *check(rapt_tape *t, const rapt_tensor *x, const rapt_tensor *w, const rapt_tensor *b,
                          rapt_activation activation)
{
    size_t in = rapt_tensor_features(x);
    if (activation_unknown(activation))
        return rapt_tape_fail(t, RAPT_VALUE, "linear %s: there is no activation %d", w->name, (int)activation);
    if (w->ndim != 2 || w->shape[1] != in)
        return rapt_tape_fail(t, RAPT_SHAPE, "linear %s: input has %zu features, weight wants %zu", w->name, in,
                              w->ndim == 2 ? w->shape[1] : 0);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return rapt_tape_fail(t, RAPT_SHAPE, "linear %s: bias has %zu elements, output %zu", w->name,
                              rapt_tensor_size(b), w->shape[0]);
    return NULL;
}

typedef struct linear_loop {
    const kernels *k;
    const linear_node *l;
    const rapt_real *dz;
    rapt_real *to; /* dz of a ReLU, or db */
    size_t rows, out;
} linear_loop;

static void relu_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const linear_loop *loop = context;
    size_t from = first * loop->out;
    (void)chunk, (void)worker;
    loop->k->relu_backward((last - first) * loop->out, loop->l->y->data + from, loop->l->y->grad + from, loop->to + from);
}

/* dz: the gradient before the activation. */
static const rapt_real *through_activation(rapt_tape *t, const linear_node *l)
{
    linear_loop loop = {.k = t->k, .l = l, .rows = rapt_tensor_rows(l->y), .out = rapt_tensor_features(l->y)};
    if (l->activation == RAPT_IDENTITY)
        return l->y->grad;
    loop.to = tape_scratch(t, loop.rows * loop.out, sizeof *loop.to);
    if (loop.to && l->slope)
        elements_chain(t, loop.rows * loop.out, l->slope, l->y->grad, loop.to, false);
    else if (loop.to)
        tape_units(t, loop.rows, loop.out, relu_rows, &loop);
    return loop.to;
}

static void sum_columns(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const linear_loop *loop = context;
    size_t from = first * SUM_COLUMNS, to = last * SUM_COLUMNS < loop->out ? last * SUM_COLUMNS : loop->out;
    (void)chunk, (void)worker;
    loop->k->column_sums(loop->rows, to - from, loop->dz + from, loop->out, loop->to + from);
}

static void bias_gradient(rapt_tape *t, const linear_node *l, const rapt_real *dz)
{
    linear_loop loop = {.k = t->k, .dz = dz, .to = tape_grad_zeroed(t, l->b), .rows = rapt_tensor_rows(l->y),
                        .out = rapt_tensor_features(l->y)};
    if (loop.to)
        tape_units(t, (loop.out + SUM_COLUMNS - 1) / SUM_COLUMNS, loop.rows * SUM_COLUMNS / 4, sum_columns, &loop);
}

static gemm_job input_job(const linear_node *l, const rapt_real *dz, rapt_real *dx, bool accumulate)
{
    ptrdiff_t in = (ptrdiff_t)l->w->shape[1], out = (ptrdiff_t)l->w->shape[0];
    return (gemm_job){.m = rapt_tensor_rows(l->x), .n = l->w->shape[1], .k = l->w->shape[0], .a = {dz, out, 1},
                      .b = {l->w->data, in, 1}, .c = dx, .tail = {.accumulate = accumulate}};
}

static gemm_job weight_job(const linear_node *l, const rapt_real *dz, rapt_real *dw, bool accumulate)
{
    ptrdiff_t in = (ptrdiff_t)l->w->shape[1], out = (ptrdiff_t)l->w->shape[0];
    return (gemm_job){.m = l->w->shape[0], .n = l->w->shape[1], .k = rapt_tensor_rows(l->x), .a = {dz, 1, out},
                      .b = {l->x->data, in, 1}, .c = dw, .tail = {.accumulate = accumulate}};
}

static void backward(rapt_tape *t, tape_node *node)
{
    linear_node *l = (linear_node *)node;
    const rapt_real *dz = l->y->grad_filled ? through_activation(t, l) : NULL;
    if (!dz)
        return;
    gemm_job jobs[2];
    size_t count = 0;
    bool add_x = false, add_w = false;
    rapt_real *dx = tape_grad(t, l->x, &add_x), *dw = tape_grad(t, l->w, &add_w);
    if (dx)
        jobs[count++] = input_job(l, dz, dx, add_x);
    if (dw)
        jobs[count++] = weight_job(l, dz, dw, add_w);
    if (dw && l->weight->sparse) /* an embedding that is the output matrix too */
        memset(l->weight->row_used, 1, l->w->shape[0]);
    if (tape_failed(t))
        return;
    gemm_all(&t->team, jobs, count);
    bias_gradient(t, l, dz);
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
    if ((bad = check(t, x, wt, bt, activation)))
        return bad;
    size_t shape[RAPT_MAX_DIMS], rows = rapt_tensor_rows(x), in = wt->shape[1], out = wt->shape[0];
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i + 1 < x->ndim ? x->shape[i] : out;
    bool grad = tape_wants(t, x) || tape_wants(t, wt) || tape_wants(t, bt);
    rapt_tensor *y = tape_output(t, x->ndim, shape, grad);
    rapt_real *slope = grad && activation_curved(activation) ? tape_alloc(t, rows * out, sizeof *slope) : NULL;
    if (tape_failed(t))
        return &t->poison;
    y->name = wt->name;
    rapt_real *z = slope ? slope : y->data;
    y->ragged = x->ragged;
    gemm(&t->team, &(gemm_job){.m = rows, .n = out, .k = in, .a = {x->data, (ptrdiff_t)in, 1},
                               .b = {wt->data, 1, (ptrdiff_t)in}, .packed = packed_weight(t, w), .c = z,
                               .tail = {.bias = bt ? bt->data : NULL, .relu = activation == RAPT_RELU}});
    if (activation_curved(activation))
        activation_run(t, activation, rows * out, z, y->data, slope);
    if (grad)
        record(t, (linear_node){.x = x, .w = wt, .b = bt, .y = y, .weight = w, .activation = activation, .slope = slope});
    return y;
}
