/* ops/permute.c: a tensor with its dimensions in another order, as PyTorch's permute and transpose; and, made of it, heads:
 * [batch, time, heads * d] to [batch, heads, time, d] and back (the book's transpose_qkv and transpose_output). The elements are
 * copied. For the unfused attention; the fused one reads heads in place.
 *
 * Backward: dy goes back the same way. */
#include "ops/axis.h"
#include "tape/profile_op.h"

#include <string.h>

typedef struct permute_node {
    tape_node node;
    rapt_tensor *x, *y;
    size_t stride[RAPT_MAX_DIMS]; /* elements of x from one element to the next along each dimension of y */
} permute_node;

typedef struct permute_loop {
    const permute_node *n;
    const kernels *k;
    rapt_real *dx; /* backward, else NULL */
    bool add;
} permute_loop;

/* dx (+)= dy for a row of y. */
static void permute_add(const permute_loop *loop, const rapt_real *dy, rapt_real *dx, size_t count, size_t stride)
{
    if (loop->add && stride == 1)
        loop->k->add(count, dx, dy, dx);
    else
        for (size_t i = 0; i < count; i++)
            dx[i * stride] = loop->add ? dx[i * stride] + dy[i] : dy[i];
}

/* A row of y, from its elements of x, or its gradient to theirs. */
static void permute_row(const permute_loop *loop, size_t row)
{
    const permute_node *n = loop->n;
    const int last = n->y->ndim - 1;
    const size_t count = n->y->shape[last], stride = n->stride[last];
    size_t at = 0, left = row;
    for (int i = last - 1; i >= 0; i--) {
        at += left % n->y->shape[i] * n->stride[i];
        left /= n->y->shape[i];
    }
    if (loop->dx)
        permute_add(loop, n->y->grad + row * count, loop->dx + at, count, stride);
    else if (stride == 1)
        memcpy(n->y->data + row * count, n->x->data + at, count * sizeof *n->y->data);
    else
        for (size_t i = 0; i < count; i++)
            n->y->data[row * count + i] = n->x->data[at + i * stride];
}

static void permute_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    (void)chunk, (void)worker;
    for (size_t row = first; row < last; row++)
        permute_row(context, row);
}

static void permute_backward(rapt_tape *t, tape_node *node)
{
    permute_loop loop = {.n = (permute_node *)node, .k = t->k};
    const rapt_tensor *y = loop.n->y;
    loop.dx = y->grad_filled ? tape_grad(t, loop.n->x, &loop.add) : NULL;
    profile_op(t, "permute", 0, 2.0 * (double)rapt_tensor_size(y));
    if (loop.dx)
        tape_units(t, rapt_tensor_rows(y), rapt_tensor_features(y), permute_rows, &loop);
}

/* Whether `order` names each of x's dimensions once; then y's shape and strides. */
static bool permute_order(const rapt_tensor *x, const int *order, size_t shape[RAPT_MAX_DIMS], size_t stride[RAPT_MAX_DIMS])
{
    bool seen[RAPT_MAX_DIMS] = {false};
    for (int i = 0; i < x->ndim; i++) {
        int axis;
        if (!axis_find(x, order[i], &axis) || seen[axis])
            return false;
        seen[axis] = true;
        shape[i] = x->shape[axis];
        stride[i] = axis_split(x, axis).inner;
    }
    return true;
}

rapt_tensor *rapt_op_permute(rapt_tape *t, rapt_tensor *x, const int *order)
{
    char text[96];
    size_t shape[RAPT_MAX_DIMS], stride[RAPT_MAX_DIMS] = {0};
    if (tape_failed(t))
        return &t->poison;
    if (!permute_order(x, order, shape, stride))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "permute: the order does not name each axis of %s once",
                              rapt_shape_text(x, text, sizeof text));
    permute_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor *y = tape_output(t, x->ndim, shape, tape_wants(t, x));
    if (tape_failed(t))
        return &t->poison;
    *n = (permute_node){.x = x, .y = y};
    memcpy(n->stride, stride, sizeof stride);
    profile_op(t, "permute", 0, 2.0 * (double)rapt_tensor_size(x));
    tape_units(t, rapt_tensor_rows(y), rapt_tensor_features(y), permute_rows, &(permute_loop){.n = n, .k = t->k});
    if (y->requires_grad)
        tape_record(t, &n->node, permute_backward);
    return y;
}

rapt_tensor *rapt_op_transpose(rapt_tape *t, rapt_tensor *x, int a, int b)
{
    char text[96];
    int order[RAPT_MAX_DIMS];
    if (tape_failed(t))
        return &t->poison;
    int first, second;
    if (!axis_find(x, a, &first) || !axis_find(x, b, &second))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "transpose: %s has no axes %d and %d",
                              rapt_shape_text(x, text, sizeof text), a, b);
    for (int i = 0; i < x->ndim; i++)
        order[i] = i == first ? second : i == second ? first : i;
    return rapt_op_permute(t, x, order);
}

/* ---- heads ------------------------------------------------------------------------------------------------------ */

static const int HEADS_ORDER[] = {0, 2, 1, 3}; /* and back */

rapt_tensor *rapt_op_split_heads(rapt_tape *t, rapt_tensor *x, size_t heads)
{
    char text[96];
    if (tape_failed(t))
        return &t->poison;
    if (x->ndim != 3 || heads == 0 || x->shape[2] % heads != 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "split_heads: %s into %zu heads", rapt_shape_text(x, text, sizeof text), heads);
    const size_t apart[] = {x->shape[0], x->shape[1], heads, x->shape[2] / heads};
    return rapt_op_permute(t, rapt_op_reshape(t, x, 4, apart, NULL), HEADS_ORDER);
}

rapt_tensor *rapt_op_concat_heads(rapt_tape *t, rapt_tensor *x)
{
    char text[96];
    if (tape_failed(t))
        return &t->poison;
    if (x->ndim != 4)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "concat_heads: %s is not [batch, heads, time, d]",
                              rapt_shape_text(x, text, sizeof text));
    const size_t joined[] = {x->shape[0], x->shape[2], x->shape[1] * x->shape[3]};
    return rapt_op_reshape(t, rapt_op_permute(t, x, HEADS_ORDER), 3, joined, NULL);
}
