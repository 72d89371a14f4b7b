/* ops/axis.c: sums and means over one dimension, as PyTorch's sum(axis) and mean(axis). For models that are written from single
 * operations; the norms and the softmax sum by themselves.
 *
 * Backward: every element of x gets the gradient of its sum. Sums of rows are made in their order, sums along the last dimension
 * by the kernel's tree; threads divide the results, in blocks, so bits don't depend on their number. */
#include "ops/axis.h"

#include "tape/profile_op.h"

typedef struct axis_node {
    tape_node node;
    rapt_tensor *x, *y;
    axis_parts parts;
} axis_node;

/* ---- an axis ---------------------------------------------------------------------------------------------------- */

bool axis_find(const rapt_tensor *x, int axis, int *found)
{
    *found = axis < 0 ? axis + x->ndim : axis;
    return *found >= 0 && *found < x->ndim;
}

axis_parts axis_split(const rapt_tensor *x, int axis)
{
    axis_parts p = {1, x->shape[axis], 1};
    for (int i = 0; i < x->ndim; i++)
        *(i < axis ? &p.outer : &p.inner) *= i == axis ? 1 : x->shape[i];
    return p;
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

typedef struct axis_loop {
    const kernels *k;
    const axis_node *n;
    rapt_real *dx; /* backward */
} axis_loop;

/* A unit of the loops: neighboring results, `size` of them from y, whose first terms are from x. */
enum { AXIS_BLOCK = 256 };

typedef struct axis_unit {
    size_t x, y, size;
} axis_unit;

static size_t axis_blocks(const axis_parts *p)
{
    return (p->inner + AXIS_BLOCK - 1) / AXIS_BLOCK;
}

static axis_unit axis_unit_at(const axis_parts *p, size_t unit)
{
    const size_t outer = unit / axis_blocks(p), at = unit % axis_blocks(p) * AXIS_BLOCK, left = p->inner - at;
    return (axis_unit){outer * p->count * p->inner + at, outer * p->inner + at, left < AXIS_BLOCK ? left : AXIS_BLOCK};
}

static void axis_run(rapt_tape *t, const axis_loop *loop, tape_units_fn *fn)
{
    const axis_parts *p = &loop->n->parts;
    const size_t size = p->inner < AXIS_BLOCK ? p->inner : AXIS_BLOCK;
    tape_units(t, p->outer * axis_blocks(p), p->count * size, fn, (void *)loop);
}

static void axis_sum_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const axis_loop *loop = context;
    const axis_parts p = loop->n->parts;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        const axis_unit u = axis_unit_at(&p, i);
        const rapt_real *x = loop->n->x->data + u.x;
        rapt_real *y = loop->n->y->data + u.y;
        if (p.inner == 1) {
            *y = loop->k->sum(p.count, x);
            continue;
        }
        loop->k->fill(u.size, 0, y);
        for (size_t j = 0; j < p.count; j++)
            loop->k->add(u.size, y, x + j * p.inner, y);
    }
}

static void axis_spread_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const axis_loop *loop = context;
    const axis_parts p = loop->n->parts;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        const axis_unit u = axis_unit_at(&p, i);
        const rapt_real *dy = loop->n->y->grad + u.y;
        rapt_real *dx = loop->dx + u.x;
        for (size_t j = 0; j < p.count; j++)
            if (p.inner == 1)
                dx[j] += *dy;
            else
                loop->k->add(u.size, dx + j * p.inner, dy, dx + j * p.inner);
    }
}

static void axis_backward(rapt_tape *t, tape_node *node)
{
    const axis_node *n = (axis_node *)node;
    profile_op(t, "sum", 0, 2.0 * (double)rapt_tensor_size(n->x));
    axis_loop loop = {t->k, n, n->y->grad_filled ? tape_grad_zeroed(t, n->x) : NULL};
    if (loop.dx)
        axis_run(t, &loop, axis_spread_units);
}

rapt_tensor *rapt_op_sum_axis(rapt_tape *t, rapt_tensor *x, int axis)
{
    char text[96];
    size_t shape[RAPT_MAX_DIMS] = {1};
    if (tape_failed(t))
        return &t->poison;
    int along, ndim = 0;
    if (!axis_find(x, axis, &along))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "sum_axis: %s has no axis %d", rapt_shape_text(x, text, sizeof text), axis);
    for (int i = 0; i < x->ndim; i++)
        if (i != along)
            shape[ndim++] = x->shape[i];
    axis_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor *y = tape_output(t, ndim ? ndim : 1, shape, tape_wants(t, x));
    if (tape_failed(t))
        return &t->poison;
    *n = (axis_node){.x = x, .y = y, .parts = axis_split(x, along)};
    profile_op(t, "sum", 0, (double)rapt_tensor_size(x) + (double)rapt_tensor_size(y));
    axis_run(t, &(axis_loop){.k = t->k, .n = n}, axis_sum_units);
    if (y->requires_grad)
        tape_record(t, &n->node, axis_backward);
    return y;
}

rapt_tensor *rapt_op_mean_axis(rapt_tape *t, rapt_tensor *x, int axis)
{
    rapt_tensor *sum = rapt_op_sum_axis(t, x, axis);
    return tape_failed(t) ? &t->poison : rapt_op_scale(t, sum, (double)rapt_tensor_size(sum) / (double)rapt_tensor_size(x));
}
