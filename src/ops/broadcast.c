/* ops/broadcast.c: a + b for different shapes, and one tensor expanded to a larger shape, broadcast as in PyTorch: shapes are
 * aligned at their last dimensions, and a dimension that is 1 or missing is repeated. For rapt_op_add and rapt_op_expand;
 * elementwise.c adds equal shapes.
 *
 * Backward: da = dy summed over the dimensions in which a was repeated, in the order of y's rows. Threads divide the rows of the
 * operand, so the sums don't depend on their number. */
#include "ops/elementwise_op.h"

#include "tape/profile_op.h"

#include <string.h>

/* How the rows of an operand (all dimensions except the last) map to the rows of the result. */
typedef struct broadcast_operand {
    rapt_tensor *x;
    size_t shape[RAPT_MAX_DIMS]; /* x's, with a 1 for each dimension that it lacks */
} broadcast_operand;

typedef struct broadcast_node {
    tape_node node;
    rapt_tensor *y;
    broadcast_operand a, b; /* b.x: NULL if a is only expanded */
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

static void broadcast_copy_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const broadcast_loop *loop = context;
    const size_t features = rapt_tensor_features(loop->n->y);
    (void)chunk, (void)worker;
    for (size_t i = first; i < last; i++) {
        rapt_real *y = loop->n->y->data + i * features;
        const rapt_real *a = broadcast_operand_row(loop->t->k, loop->n, &loop->n->a, i, y);
        if (a != y)
            memcpy(y, a, features * sizeof *y);
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
    broadcast_loop loop = {t, n, o, o->x ? tape_grad_zeroed(t, o->x) : NULL};
    if (loop.to)
        tape_units(t, rapt_tensor_rows(o->x), rapt_tensor_size(n->y) / rapt_tensor_rows(o->x), broadcast_sum_rows, &loop);
}

static void broadcast_backward(rapt_tape *t, tape_node *node)
{
    const broadcast_node *n = (broadcast_node *)node;
    if (!n->y->grad_filled)
        return;
    profile_op(t, n->b.x ? "add" : "expand", 0, 2.0 * (double)rapt_tensor_size(n->y));
    broadcast_pass_gradient(t, n, &n->b);
    broadcast_pass_gradient(t, n, &n->a);
}

/* ---- the operations --------------------------------------------------------------------------------------------- */

static broadcast_operand broadcast_align(rapt_tensor *x, int ndim)
{
    broadcast_operand o = {.x = x};
    for (int i = 0; i < ndim; i++)
        o.shape[i] = i < ndim - x->ndim ? 1 : x->shape[i - (ndim - x->ndim)];
    return o;
}

int broadcast_shape(rapt_tape *t, const char *op, const rapt_tensor *a, const rapt_tensor *b, size_t shape[RAPT_MAX_DIMS])
{
    char sa[96], sb[96];
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    for (int i = 1; i <= ndim; i++) { /* the i-th last one */
        const size_t m = i <= a->ndim ? a->shape[a->ndim - i] : 1, n = i <= b->ndim ? b->shape[b->ndim - i] : 1;
        if (m != n && m != 1 && n != 1) {
            rapt_tape_fail(t, RAPT_ERR_SHAPE, "%s: %s and %s differ, and neither can be broadcast", op,
                           rapt_shape_text(a, sa, sizeof sa), rapt_shape_text(b, sb, sizeof sb));
            return 0;
        }
        shape[ndim - i] = m == 1 ? n : m;
    }
    return ndim;
}

/* Computes y, with the division among examples of an operand that has its shape. */
static rapt_tensor *broadcast_run(rapt_tape *t, broadcast_node *n, tape_units_fn *fn)
{
    const rapt_tensor *a = n->a.x, *b = n->b.x;
    n->y->ragged = rapt_tensor_same_shape(n->y, a) ? a->ragged : b && rapt_tensor_same_shape(n->y, b) ? b->ragged : NULL;
    tape_units(t, rapt_tensor_rows(n->y), 2 * rapt_tensor_features(n->y), fn, &(broadcast_loop){.t = t, .n = n});
    if (n->y->requires_grad)
        tape_record(t, &n->node, broadcast_backward);
    return n->y;
}

rapt_tensor *broadcast_add(rapt_tape *t, rapt_tensor *a, rapt_tensor *b)
{
    size_t shape[RAPT_MAX_DIMS];
    const int ndim = broadcast_shape(t, "add", a, b, shape);
    if (ndim == 0)
        return &t->poison;
    broadcast_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor *y = tape_output(t, ndim, shape, tape_wants(t, a) || tape_wants(t, b));
    if (tape_failed(t))
        return &t->poison;
    *n = (broadcast_node){.y = y, .a = broadcast_align(a, ndim), .b = broadcast_align(b, ndim)};
    profile_op(t, "add", 0, 3.0 * (double)rapt_tensor_size(y));
    return broadcast_run(t, n, broadcast_add_rows);
}

/* Whether x, repeated, has the other's shape. */
static bool broadcast_fits(const rapt_tensor *x, const rapt_tensor *other)
{
    bool fits = x->ndim <= other->ndim;
    for (int i = 1; fits && i <= x->ndim; i++) /* the i-th last one */
        fits = x->shape[x->ndim - i] == 1 || x->shape[x->ndim - i] == other->shape[other->ndim - i];
    for (int i = 0; fits && i < other->ndim; i++)
        fits = other->shape[i] > 0;
    return fits;
}

rapt_tensor *rapt_op_expand(rapt_tape *t, rapt_tensor *x, int ndim, const size_t *shape)
{
    char from[96], to[96];
    rapt_tensor wanted = {.ndim = ndim};
    if (tape_failed(t))
        return &t->poison;
    const bool has_shape = ndim >= 1 && ndim <= RAPT_MAX_DIMS;
    if (has_shape)
        memcpy(wanted.shape, shape, (size_t)ndim * sizeof *shape);
    if (!has_shape || !broadcast_fits(x, &wanted))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "expand: %s does not become %s", rapt_shape_text(x, from, sizeof from),
                              has_shape ? rapt_shape_text(&wanted, to, sizeof to) : "a tensor");
    if (rapt_tensor_same_shape(x, &wanted))
        return x;
    broadcast_node *n = tape_alloc(t, 1, sizeof *n);
    rapt_tensor *y = tape_output(t, ndim, shape, tape_wants(t, x));
    if (tape_failed(t))
        return &t->poison;
    *n = (broadcast_node){.y = y, .a = broadcast_align(x, ndim)};
    profile_op(t, "expand", 0, 2.0 * (double)rapt_tensor_size(y));
    return broadcast_run(t, n, broadcast_copy_rows);
}
