/* ops/broadcast.c: a + b for different shapes, broadcast as in PyTorch: shapes are aligned at their last dimensions, and a
 * dimension that is 1 or missing is repeated. For rapt_op_add; elementwise.c adds equal shapes.
 *
 * Backward: da = dy summed over the dimensions in which a was repeated, in the order of y's rows. Threads divide the rows of the
 * operand, so the sums don't depend on their number. */
#include "ops/elementwise_op.h"

#include "tape/profile_op.h"

/* How the rows of an operand (all dimensions except the last) map to the rows of the result. */
typedef struct broadcast_operand {
    rapt_tensor *x;
    size_t shape[RAPT_MAX_DIMS]; /* x's, with a 1 for each dimension that it lacks */
} broadcast_operand;

typedef struct broadcast_node {
    tape_node node;
    rapt_tensor *y;
    broadcast_operand a, b;
} broadcast_node;

/* The row of a tensor of shape `other` that corresponds to row `row` of a tensor of shape `shape`, where dimensions of 1 are
 * repeated. */
static size_t broadcast_row(int ndim, const size_t *shape, const size_t *other, size_t row)
{
    size_t at = 0, stride = 1;
    for (int i = ndim - 2; i >= 0; i--) {
        at += (other[i] == 1 ? 0 : row % shape[i]) * stride;
        stride *= other[i];
        row /= shape[i];
    }
    return at;
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* Row `row` of the operand; if it is one number, it is repeated into y. */
static const rapt_real *broadcast_operand_row(const kernels *k, const broadcast_node *n, const broadcast_operand *o, size_t row,
                                              rapt_real *y)
{
    const size_t features = rapt_tensor_features(n->y), own = o->shape[n->y->ndim - 1];
    const rapt_real *from = o->x->data + broadcast_row(n->y->ndim, n->y->shape, o->shape, row) * own;
    if (own == features)
        return from;
    k->fill(features, *from, y);
    return y;
}

typedef struct broadcast_loop {
    rapt_tape *t;
    const broadcast_node *n;
    const broadcast_operand *o; /* backward: whose gradient */
    rapt_real *to;              /* that gradient */
} broadcast_loop;

static void broadcast_add_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const broadcast_loop *loop = context;
    const broadcast_node *n = loop->n;
    const kernels *k = loop->t->k;
    const size_t features = rapt_tensor_features(n->y);
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        rapt_real *y = n->y->data + i * features;
        const rapt_real *a = broadcast_operand_row(k, n, &n->a, i, y);
        const rapt_real *b = broadcast_operand_row(k, n, &n->b, i, y);
        k->add(features, a, b, y);
    }
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* The `i`-th row of y, in order, that the operand's row `row` was added to. */
static size_t broadcast_result_row(const broadcast_node *n, const broadcast_operand *o, size_t row, size_t i)
{
    size_t at = 0, stride = 1;
    for (int d = n->y->ndim - 2; d >= 0; d--) {
        const bool repeated = o->shape[d] == 1;
        const size_t size = n->y->shape[d];
        at += (repeated ? i % size : row % size) * stride;
        stride *= size;
        if (repeated)
            i /= size;
        else
            row /= size;
    }
    return at;
}

static void broadcast_sum_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const broadcast_loop *loop = context;
    const broadcast_node *n = loop->n;
    const size_t features = rapt_tensor_features(n->y), own = loop->o->shape[n->y->ndim - 1];
    const size_t times = rapt_tensor_rows(n->y) / rapt_tensor_rows(loop->o->x);
    (void)chunk, (void)worker;
    for (size_t row = first; row < last; row++)
        for (size_t i = 0; i < times; i++) {
            const rapt_real *dy = n->y->grad + broadcast_result_row(n, loop->o, row, i) * features;
            rapt_real *to = loop->to + row * own;
            if (own == features)
                loop->t->k->add(features, to, dy, to);
            else
                *to += loop->t->k->sum(features, dy);
        }
}

static void broadcast_pass_gradient(rapt_tape *t, const broadcast_node *n, const broadcast_operand *o)
{
    broadcast_loop loop = {t, n, o, tape_grad_zeroed(t, o->x)};
    if (loop.to)
        tape_units(t, rapt_tensor_rows(o->x), rapt_tensor_size(n->y) / rapt_tensor_rows(o->x), broadcast_sum_rows, &loop);
}

static void broadcast_backward(rapt_tape *t, tape_node *node)
{
    const broadcast_node *n = (broadcast_node *)node;
    if (!n->y->grad_filled)
        return;
    profile_op(t, "add", 0, 2.0 * (double)rapt_tensor_size(n->y));
    broadcast_pass_gradient(t, n, &n->b);
    broadcast_pass_gradient(t, n, &n->a);
}

/* ---- the operation ---------------------------------------------------------------------------------------------- */

static broadcast_operand broadcast_align(rapt_tensor *x, int ndim)
{
    broadcast_operand o = {.x = x};
    for (int i = 0; i < ndim; i++)
        o.shape[i] = i < ndim - x->ndim ? 1 : x->shape[i - (ndim - x->ndim)];
    return o;
}

/* The shape of the result; false if a dimension differs and neither is 1. */
static bool broadcast_shape(const broadcast_node *n, int ndim, size_t shape[RAPT_MAX_DIMS])
{
    for (int i = 0; i < ndim; i++) {
        const size_t a = n->a.shape[i], b = n->b.shape[i];
        if (a != b && a != 1 && b != 1)
            return false;
        shape[i] = a == 1 ? b : a;
    }
    return true;
}

rapt_tensor *broadcast_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    char sa[96], sb[96];
    size_t shape[RAPT_MAX_DIMS];
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    broadcast_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = (broadcast_node){.a = broadcast_align(a, ndim), .b = broadcast_align(b, ndim)};
    if (!broadcast_shape(n, ndim, shape))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "add: %s and %s differ, and neither can be broadcast",
                              rapt_shape_text(a, sa, sizeof sa), rapt_shape_text(b, sb, sizeof sb));
    n->y = tape_output(t, ndim, shape, tape_wants(t, a) || tape_wants(t, b));
    if (!n->y)
        return &t->poison;
    n->y->ragged = rapt_tensor_same_shape(n->y, a) ? a->ragged : rapt_tensor_same_shape(n->y, b) ? b->ragged : NULL;
    profile_op(t, "add", 0, 3.0 * (double)rapt_tensor_size(n->y));
    tape_units(t, rapt_tensor_rows(n->y), 2 * rapt_tensor_features(n->y), broadcast_add_rows, &(broadcast_loop){.t = t, .n = n});
    if (n->y->requires_grad)
        tape_record(t, &n->node, broadcast_backward);
    return n->y;
}
