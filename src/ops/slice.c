/* ops/slice.c: a stretch of one dimension, and tensors joined along one, as PyTorch's narrow and cat. For models that are written
 * from single operations. The elements are copied.
 *
 * Backward: a slice adds dy to its stretch of dx; a concatenation gives each operand its stretch of dy. */
#include "ops/axis.h"
#include "tape/profile_op.h"

#include <string.h>

/* Where stretches of numbers are: stretch i begins at data[first + i * row]. */
typedef struct stretch_place {
    size_t first, row;
} stretch_place;

/* Moves, or adds, stretches of `count` numbers. */
typedef struct stretch_move {
    const kernels *k;
    const rapt_real *from;
    rapt_real *to;
    stretch_place at, goal;
    size_t count;
    bool add;
} stretch_move;

static void move_units(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const stretch_move *m = context;
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        const rapt_real *from = m->from + m->at.first + i * m->at.row;
        rapt_real *to = m->to + m->goal.first + i * m->goal.row;
        if (m->add)
            m->k->add(m->count, to, from, to);
        else
            memcpy(to, from, m->count * sizeof *to);
    }
}

static void move_stretches(rapt_tape *t, size_t stretches, stretch_move m)
{
    m.k = t->k;
    tape_units(t, stretches, m.count, move_units, &m);
}

/* ---- slice ------------------------------------------------------------------------------------------------------ */

typedef struct slice_node {
    tape_node node;
    rapt_tensor *x, *y;
    axis_parts parts; /* of x */
    size_t first, count;
} slice_node;

static void slice_backward(rapt_tape *t, tape_node *node)
{
    const slice_node *n = (slice_node *)node;
    const size_t inner = n->parts.inner, own = n->count * inner, row = n->parts.count * inner;
    rapt_real *dx = n->y->grad_filled ? tape_grad_zeroed(t, n->x) : NULL;
    profile_op(t, "slice", 0, 3.0 * (double)rapt_tensor_size(n->y));
    if (dx)
        move_stretches(t, n->parts.outer, (stretch_move){.from = n->y->grad, .to = dx, .at = {0, own},
                                                         .goal = {n->first * inner, row}, .count = own, .add = true});
}

rapt_tensor *rapt_op_slice(rapt_tape *t, rapt_tensor *x, int axis, size_t first, size_t count)
{
    char text[96];
    int along;
    if (tape_failed(t))
        return &t->poison;
    if (!axis_find(x, axis, &along) || count == 0 || first > x->shape[along] || count > x->shape[along] - first)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "slice: %s has no %zu elements from %zu on along axis %d",
                              rapt_shape_text(x, text, sizeof text), count, first, axis);
    size_t shape[RAPT_MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[along] = count;
    slice_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor *y = tape_output(t, x->ndim, shape, tape_wants(t, x));
    if (tape_failed(t))
        return &t->poison;
    y->ragged = along == x->ndim - 1 ? x->ragged : NULL;
    *n = (slice_node){.x = x, .y = y, .parts = axis_split(x, along), .first = first, .count = count};
    profile_op(t, "slice", 0, 2.0 * (double)rapt_tensor_size(y));
    const size_t inner = n->parts.inner, own = count * inner, row = n->parts.count * inner;
    move_stretches(t, n->parts.outer, (stretch_move){.from = x->data, .to = y->data, .at = {first * inner, row},
                                                     .goal = {0, own}, .count = own});
    if (y->requires_grad)
        tape_record(t, &n->node, slice_backward);
    return y;
}

/* ---- concat ----------------------------------------------------------------------------------------------------- */

typedef struct concat_node {
    tape_node node;
    size_t count;
    rapt_tensor **x; /* [count] */
    rapt_tensor *y;
    int axis;
} concat_node;

static void concat_backward(rapt_tape *t, tape_node *node)
{
    const concat_node *n = (concat_node *)node;
    const axis_parts parts = axis_split(n->y, n->axis);
    if (!n->y->grad_filled)
        return;
    profile_op(t, "concat", 0, 3.0 * (double)rapt_tensor_size(n->y));
    for (size_t i = 0, at = 0; i < n->count; i++) {
        const size_t own = n->x[i]->shape[n->axis] * parts.inner;
        bool add;
        rapt_real *dx = tape_grad(t, n->x[i], &add);
        if (dx)
            move_stretches(t, parts.outer, (stretch_move){.from = n->y->grad, .to = dx, .at = {at, parts.count * parts.inner},
                                                          .goal = {0, own}, .count = own, .add = add});
        at += own;
    }
}

/* The shape of the result. Returns the first operand that differs from x[0] in another dimension; `count`: none does. */
static size_t concat_shape(size_t count, rapt_tensor *const *x, int axis, size_t shape[RAPT_MAX_DIMS])
{
    memcpy(shape, x[0]->shape, RAPT_MAX_DIMS * sizeof *shape);
    for (size_t i = 1; i < count; i++) {
        if (x[i]->ndim != x[0]->ndim)
            return i;
        for (int d = 0; d < x[0]->ndim; d++)
            if (d != axis && x[i]->shape[d] != shape[d])
                return i;
        shape[axis] += x[i]->shape[axis];
    }
    return count;
}

rapt_tensor *rapt_op_concat(rapt_tape *t, size_t count, rapt_tensor *const *x, int axis)
{
    char first[96], other[96];
    size_t shape[RAPT_MAX_DIMS];
    int along;
    if (tape_failed(t))
        return &t->poison;
    if (count == 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "concat: no tensors");
    if (!axis_find(x[0], axis, &along))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "concat: %s has no axis %d", rapt_shape_text(x[0], first, sizeof first), axis);
    const size_t unfit = concat_shape(count, x, along, shape);
    if (unfit < count)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "concat: tensor %zu is %s, which does not fit the first one, %s, along axis %d",
                              unfit, rapt_shape_text(x[unfit], other, sizeof other), rapt_shape_text(x[0], first, sizeof first),
                              axis);
    bool wants = false;
    for (size_t i = 0; i < count; i++)
        wants = wants || tape_wants(t, x[i]);
    concat_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor **own = tape_alloc(t, count, sizeof *own), *y = tape_output(t, x[0]->ndim, shape, wants);
    if (tape_failed(t))
        return &t->poison;
    memcpy(own, x, count * sizeof *own);
    for (size_t i = 0; i < count && along == y->ndim - 1 && !y->ragged; i++)
        y->ragged = x[i]->ragged;
    *n = (concat_node){.count = count, .x = own, .y = y, .axis = along};
    profile_op(t, "concat", 0, 2.0 * (double)rapt_tensor_size(y));
    const axis_parts parts = axis_split(y, along);
    for (size_t i = 0, at = 0; i < count; i++) {
        const size_t width = x[i]->shape[along] * parts.inner;
        move_stretches(t, parts.outer, (stretch_move){.from = x[i]->data, .to = y->data, .at = {0, width},
                                                      .goal = {at, parts.count * parts.inner}, .count = width});
        at += width;
    }
    if (y->requires_grad)
        tape_record(t, &n->node, concat_backward);
    return y;
}
