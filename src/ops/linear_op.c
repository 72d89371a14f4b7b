/* ops/linear_op.c: y = activation(x w^T + b). For every projection of a model. Bias and ReLU are in the GEMM's epilogue, so y is
 * written once; a smooth activation is applied to each tile of z = x w^T + b while it is in the cache. If the pass records, f'(z)
 * replaces z, because the backward pass needs nothing else from it.
 *
 * Backward, with dz = f'(z) dy: dx = dz w, dw = dz^T x, db = sum over rows of dz. */
#include "ops/elements.h"
#include "ops/held_weight.h"
#include "ops/linear_parts.h"
#include "tape/profile_op.h"

#include <string.h>

#define SUM_COLUMNS 64 /* columns of a bias gradient that one thread adds up */

typedef struct linear_layer {
    rapt_tensor *x, *w, *b, *y; /* b: or NULL */
    rapt_param *weight;         /* w is its value */
    const packed_weight *packed; /* packed form of w, which the forward pass reads instead, or NULL */
} linear_layer;

/* Layers side by side, or one with an activation. */
typedef struct linear_node {
    tape_node node;
    size_t count;
    linear_layer layers[RAPT_OP_LINEARS_MAX];
    rapt_activation activation;
    rapt_real *slope; /* f'(z) for a smooth activation, else NULL; dz overwrites it */
} linear_node;

/* ---- backward ----------------------------------------------------------------------------------------------- */

typedef struct linear_loop {
    const kernels *k;
    const linear_layer *l;
    const rapt_real *dz;
    rapt_real *to; /* dz, or db */
    size_t rows, out;
} linear_loop;

static void linear_relu_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const linear_loop *loop = context;
    size_t from = first * loop->out;
    (void)chunk, (void)worker;
    loop->k->relu_backward((last - first) * loop->out, loop->l->y->data + from, loop->l->y->grad + from, loop->to + from);
}

/* dz = f'(z) dy [rows, out]: the gradient before the activation. NULL if y has no gradient, or if out of memory. */
static const rapt_real *linear_activation_gradient(rapt_tape *t, const linear_node *n, const linear_layer *l)
{
    linear_loop loop = {.k = t->k, .l = l, .rows = rapt_tensor_rows(l->y), .out = rapt_tensor_features(l->y)};
    if (!l->y->grad_filled || n->activation == RAPT_ACTIVATION_IDENTITY)
        return l->y->grad_filled ? l->y->grad : NULL;
    loop.to = n->slope ? n->slope : tape_scratch(t, loop.rows * loop.out, sizeof *loop.to);
    if (n->slope)
        elements_chain(t, loop.rows * loop.out, n->slope, l->y->grad, loop.to, false);
    else if (loop.to)
        tape_units(t, loop.rows, loop.out, linear_relu_rows, &loop);
    return loop.to;
}

static void linear_sum_columns(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const linear_loop *loop = context;
    size_t from = first * SUM_COLUMNS, to = last * SUM_COLUMNS < loop->out ? last * SUM_COLUMNS : loop->out;
    (void)chunk, (void)worker;
    loop->k->column_sums(loop->rows, to - from, loop->dz + from, loop->out, loop->to + from);
}

static void linear_bias_gradient(rapt_tape *t, const linear_layer *l, const rapt_real *dz)
{
    linear_loop loop = {.k = t->k, .dz = dz, .to = tape_grad_zeroed(t, l->b), .rows = rapt_tensor_rows(l->y),
                        .out = rapt_tensor_features(l->y)};
    if (loop.to)
        tape_units(t, (loop.out + SUM_COLUMNS - 1) / SUM_COLUMNS, loop.rows * SUM_COLUMNS / 4, linear_sum_columns, &loop);
}

/* The GEMMs of a backward pass, and their operands dz. */
typedef struct linear_jobs {
    const rapt_real *dz[RAPT_OP_LINEARS_MAX]; /* dz of each layer, or NULL */
    gemm_job jobs[GEMM_MAX_JOBS];
    size_t count;
} linear_jobs;
_Static_assert(2 * RAPT_OP_LINEARS_MAX <= GEMM_MAX_JOBS, "a layer's backward pass has two products");

/* dx [rows, in] (+)= dz [rows, out] w [out, in]. Layers with the same x are adjacent: their GEMMs accumulate into one dx. */
static void linear_add_input_job(rapt_tape *t, const linear_layer *l, const rapt_real *dz, linear_jobs *p)
{
    bool accumulate;
    ptrdiff_t in = (ptrdiff_t)l->w->shape[1], out = (ptrdiff_t)l->w->shape[0];
    rapt_real *dx = tape_grad(t, l->x, &accumulate);
    if (!dx)
        return;
    const rapt_real *panels = held_weight(t, l->weight, false);
    bool accumulates = p->count > 0 && p->jobs[p->count - 1].c == dx;
    p->jobs[p->count++] = (gemm_job){.m = rapt_tensor_rows(l->x), .n = l->w->shape[1], .k = l->w->shape[0],
                                     .a = {dz, out, 1}, .b = {l->w->data, in, 1}, .packed = panels, .c = dx,
                                     .epilogue = {.accumulate = accumulate}, .accumulates_into_previous = accumulates};
}

/* dw [out, in] (+)= dz^T [out, rows] x [rows, in]. */
static void linear_add_weight_job(rapt_tape *t, const linear_layer *l, const rapt_real *dz, linear_jobs *p)
{
    bool accumulate;
    ptrdiff_t in = (ptrdiff_t)l->w->shape[1], out = (ptrdiff_t)l->w->shape[0];
    rapt_real *dw = tape_grad(t, l->w, &accumulate);
    if (!dw)
        return;
    p->jobs[p->count++] = (gemm_job){.m = l->w->shape[0], .n = l->w->shape[1], .k = rapt_tensor_rows(l->x),
                                     .a = {dz, 1, out}, .b = {l->x->data, in, 1}, .c = dw,
                                     .epilogue = {.accumulate = accumulate}};
    if (l->weight->sparse && tape_computes(t)) /* a tied embedding: the output matrix uses all rows */
        memset(l->weight->state->row_used, 1, l->w->shape[0]);
}

static double linear_flops_of(const linear_node *n)
{
    double flops = 0;
    for (size_t i = 0; i < n->count; i++)
        flops += 2.0 * (double)rapt_tensor_rows(n->layers[i].x) * (double)rapt_tensor_size(n->layers[i].w);
    return flops;
}

/* Bytes of operands and results of the forward pass; weights count in their packed form. */
static double linear_bytes_of(const linear_node *n)
{
    size_t elements = 0, packed = 0;
    for (size_t i = 0; i < n->count; i++) {
        const linear_layer *l = &n->layers[i];
        elements += rapt_tensor_size(l->y) + (i && l->x == l[-1].x ? 0 : rapt_tensor_size(l->x));
        elements += l->packed ? 0 : rapt_tensor_size(l->w);
        packed += l->packed ? l->packed->bytes : 0;
    }
    return (double)(elements * sizeof(rapt_real) + packed);
}

static void linear_backward(rapt_tape *t, tape_node *node)
{
    const linear_node *n = (const linear_node *)node;
    linear_jobs p = {.count = 0};
    profile_op_bytes(t, "linear", 2 * linear_flops_of(n), 2 * linear_bytes_of(n));

    /* 1. dz = f'(z) dy of each layer */
    for (size_t i = n->count; i-- > 0;)
        p.dz[i] = linear_activation_gradient(t, n, &n->layers[i]);

    /* 2. dx = dz w and dw = dz^T x of all layers concurrently */
    for (size_t i = n->count; i-- > 0;)
        if (p.dz[i])
            linear_add_input_job(t, &n->layers[i], p.dz[i], &p);
    for (size_t i = n->count; i-- > 0;)
        if (p.dz[i])
            linear_add_weight_job(t, &n->layers[i], p.dz[i], &p);
    if (tape_failed(t))
        return;
    gemm_all(&t->team, p.jobs, p.count);

    /* 3. db = sum over rows of dz */
    for (size_t i = n->count; i-- > 0;)
        if (p.dz[i])
            linear_bias_gradient(t, &n->layers[i], p.dz[i]);
}

/* ---- forward ------------------------------------------------------------------------------------------------ */

static rapt_tensor *linear_check(rapt_tape *t, const rapt_tensor *x, const rapt_tensor *w, const rapt_tensor *b)
{
    size_t in = rapt_tensor_features(x);
    if (w->ndim != 2 || w->shape[1] != in)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "linear %s: input has %zu features, weight expects %zu", w->name, in,
                              w->ndim == 2 ? w->shape[1] : 0);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "linear %s: bias has %zu elements, output %zu", w->name,
                              rapt_tensor_size(b), w->shape[0]);
    return NULL;
}

/* Checks a layer and allocates its output y. False after recording the failure. */
static bool linear_prepare(rapt_tape *t, linear_layer *l, const rapt_linear_args *in)
{
    size_t shape[RAPT_MAX_DIMS];
    *l = (linear_layer){.x = in->x, .w = &in->w->value, .b = in->b ? &in->b->value : NULL, .weight = in->w,
                        .packed = packed_weights_find(t->packed, in->w, t->packs)};
    if (linear_check(t, l->x, l->w, l->b))
        return false;
    if (!l->packed) /* the matrix as such is not read otherwise */
        held_weight_refresh(t, in->w);
    if (in->b)
        tape_refresh(t, in->b);
    for (int i = 0; i < l->x->ndim; i++)
        shape[i] = i + 1 < l->x->ndim ? l->x->shape[i] : l->w->shape[0];
    l->y = tape_output(t, l->x->ndim, shape, tape_wants(t, l->x) || tape_wants(t, l->w) || tape_wants(t, l->b));
    if (!l->y)
        return false;
    l->y->name = l->w->name;
    l->y->ragged = l->x->ragged;
    return true;
}

/* Its weight may be in scratch memory, which the caller gives back. */
static gemm_job linear_forward_job(rapt_tape *t, const linear_layer *l)
{
    ptrdiff_t in = (ptrdiff_t)l->w->shape[1];
    return (gemm_job){.m = rapt_tensor_rows(l->x), .n = l->w->shape[0], .k = l->w->shape[1], .a = {l->x->data, in, 1},
                      .b = {l->w->data, 1, in},
                      .packed = l->packed ? l->packed->panels : held_weight(t, l->weight, true),
                      .stored = l->packed && !l->packed->panels ? l->weight : NULL,
                      .c = l->y->data, .epilogue = {.bias = l->b ? l->b->data : NULL}};
}

/* The team for the product of a layer: with the kernels for which its weights are packed, or else with the tape's own. */
static gemm_team linear_team(const rapt_tape *t, const rapt_param *w)
{
    const packed_weight *packed = packed_weights_find(t->packed, w, t->packs);
    gemm_team team = t->team;
    if (packed)
        team.gemm = packed->gemm;
    return team;
}

void linear_product(rapt_tape *t, rapt_param *w, size_t rows, const rapt_real *x, rapt_real *y)
{
    rapt_tensor in = {.ndim = 2, .shape = {rows, w->value.shape[1]}, .data = (rapt_real *)x};
    rapt_tensor result = {.ndim = 2, .shape = {rows, w->value.shape[0]}, .data = y};
    const linear_layer l = {.x = &in, .w = &w->value, .y = &result, .weight = w,
                            .packed = packed_weights_find(t->packed, w, t->packs)};
    const arena_mark mark = tape_mark(t);
    if (!l.packed)
        held_weight_refresh(t, w);
    const gemm_job job = linear_forward_job(t, &l);
    const gemm_team team = linear_team(t, w);
    if (!tape_failed(t))
        gemm(&team, &job);
    tape_release(t, mark);
}

/* Reports to the profile, before the forward products, what they read. */
static void linear_announce(rapt_tape *t, const linear_node *n)
{
    profile_op_bytes(t, "linear", linear_flops_of(n), linear_bytes_of(n));
    for (size_t i = 0; i < n->count; i++)
        t->weight_bytes += n->layers[i].packed ? n->layers[i].packed->bytes : 0;
}

/* A node for these layers with allocated outputs; NULL after a failure, which is recorded. */
static linear_node *linear_node_of(rapt_tape *t, const rapt_linear_args *in, size_t count, rapt_activation activation)
{
    linear_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return NULL;
    *n = (linear_node){.count = count, .activation = activation};
    for (size_t i = 0; i < count; i++)
        if (!linear_prepare(t, &n->layers[i], &in[i]))
            return NULL;
    return n;
}

static rapt_tensor *linear_fused(rapt_tape *t, const rapt_linear_args *in, rapt_activation activation)
{
    linear_node *n = linear_node_of(t, in, 1, activation);
    if (!n)
        return &t->poison;
    rapt_tensor *y = n->layers[0].y;
    bool smooth = activation_smooth(activation);
    if (smooth && y->requires_grad && !(n->slope = tape_elements(t, rapt_tensor_size(y))))
        return &t->poison;
    linear_announce(t, n);
    const arena_mark mark = tape_mark(t);
    gemm_job job = linear_forward_job(t, &n->layers[0]);
    if (tape_failed(t))
        return &t->poison;
    job.epilogue.relu = activation == RAPT_ACTIVATION_RELU;
    job.c = n->slope ? n->slope : y->data;
    activation_run run = {activation, job.c, y->data, n->slope};
    if (smooth)
        job.epilogue_fn = activation_elements, job.context = &run;
    const gemm_team team = linear_team(t, in->w);
    gemm(&team, &job);
    tape_release(t, mark);
    if (activation != RAPT_ACTIVATION_RELU) /* whose derivative is computed from y */
        tape_set_disposable(t);
    if (y->requires_grad)
        tape_record(t, &n->node, linear_backward);
    return y;
}

rapt_tensor *rapt_op_linear(rapt_tape *t, rapt_tensor *x, rapt_param *w, rapt_param *b, rapt_activation activation)
{
    rapt_linear_args in = {x, w, b};
    if (tape_failed(t))
        return &t->poison;
    if (activation_unknown(activation))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "linear %s: there is no activation %d", w->value.name, (int)activation);
    if (!observe_here(t))
        return linear_fused(t, &in, activation);
    return rapt_op_activate(t, linear_observe(t, &in, false, linear_fused(t, &in, RAPT_ACTIVATION_IDENTITY)), activation);
}

/* Whether the products have the same kernels, and the backward passes can run concurrently: layers with the same x are adjacent,
 * as linear_add_input_job needs, and no other gradient is shared. */
static bool linear_can_run_together(const rapt_tape *t, const rapt_linear_args *in, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (linear_team(t, in[i].w).gemm != linear_team(t, in[0].w).gemm)
            return false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if ((i < j && in[i].w == in[j].w) || in[i].x == &in[j].w->value ||
                (i < j && in[i].x == in[j].x && in[j - 1].x != in[j].x))
                return false;
    return true;
}

static bool linear_run_together(rapt_tape *t, size_t count, const rapt_linear_args *in, rapt_tensor **y)
{
    gemm_job jobs[RAPT_OP_LINEARS_MAX];
    linear_node *n = linear_node_of(t, in, count, RAPT_ACTIVATION_IDENTITY);
    const arena_mark mark = tape_mark(t);
    bool grad = false;
    for (size_t i = 0; n && i < count; i++) {
        y[i] = n->layers[i].y;
        jobs[i] = linear_forward_job(t, &n->layers[i]);
        grad = grad || y[i]->requires_grad;
    }
    if (tape_failed(t))
        return false;
    linear_announce(t, n);
    const gemm_team team = linear_team(t, in->w);
    gemm_all(&team, jobs, count);
    tape_release(t, mark);
    if (grad)
        tape_record(t, &n->node, linear_backward);
    return true;
}

void rapt_op_linears(rapt_tape *t, size_t count, const rapt_linear_args *in, rapt_tensor **y)
{
    bool one_by_one = count > RAPT_OP_LINEARS_MAX || !linear_can_run_together(t, in, count);
    if (tape_failed(t) || one_by_one || !linear_run_together(t, count, in, y))
        for (size_t i = 0; i < count; i++)
            y[i] = tape_failed(t) ? &t->poison : linear_fused(t, &in[i], RAPT_ACTIVATION_IDENTITY);
    for (size_t i = 0; i < count; i++)
        linear_observe(t, &in[i], in[i].x != in[0].x, y[i]);
}
