/* ops/dropout.c: dropout (Srivastava et al. 2014), inverted: elements that are kept are scaled by 1/(1-p). For feed-forward
 * networks and residual connections; embeddings, attention and add & norm have dropout fused. The backward pass regenerates
 * the mask from its random key. */
#include "ops/dropout_op.h"
#include "tape/observe_op.h"
#include "tape/profile_op.h"

typedef struct dropout_node {
    tape_node node;
    rapt_tensor *x, *y;
    kernels_dropout key;
} dropout_node;

typedef struct drop_loop {
    rapt_tape *t;
    const rapt_tensor *x;
    kernels_dropout key;
    const rapt_real *from;
    rapt_real *to;
} drop_loop;

static void dropout_drop_examples(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const drop_loop *loop = context;
    size_t columns = rapt_tensor_features(loop->x), heads = loop->x->ndim > 3 ? loop->x->shape[1] : 1;
    (void)chunk, (void)worker;
    for (size_t b = first; b < last; b++) {
        tape_rows rows = tape_rows_of(loop->x, b);
        kernels_dropout key = loop->key;
        key.example = tape_example(loop->t, b);
        for (size_t h = 0; h < heads; h++) {
            size_t count = rows.count / heads, at = (rows.first + h * count) * columns;
            key.head = (uint32_t)h;
            loop->t->k->dropout(&key, 0, count, columns, loop->from + at, columns, loop->to + at, columns);
        }
    }
}

/* Applies the mask to a whole tensor: to data in the forward pass, to gradients in the backward pass. */
static void dropout_drop(rapt_tape *t, const rapt_tensor *x, kernels_dropout key, const rapt_real *from, rapt_real *to)
{
    drop_loop loop = {t, x, key, from, to};
    profile_op(t, "dropout", 0, 2.0 * (double)rapt_tensor_size(x));
    tape_units(t, tape_examples(x), tape_longest(x) * rapt_tensor_features(x), dropout_drop_examples, &loop);
}

static void dropout_backward(rapt_tape *t, tape_node *node)
{
    dropout_node *d = (dropout_node *)node;
    size_t n = rapt_tensor_size(d->x);
    bool accumulate;
    rapt_real *dx = d->y->grad_filled ? tape_grad(t, d->x, &accumulate) : NULL;
    if (!dx)
        return;
    rapt_real *dropped = accumulate ? tape_scratch(t, n, sizeof *dropped) : dx;
    if (!dropped)
        return;
    dropout_drop(t, d->x, d->key, d->y->grad, dropped);
    if (accumulate && tape_computes(t))
        t->k->add(n, dx, dropped, dx);
}

rapt_tensor *dropout_run(rapt_tape *t, rapt_tensor *x, double p, bool overwrite)
{
    if (tape_failed(t))
        return &t->poison;
    if (!(p >= 0 && p < 1))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "dropout: probability %g is not in [0, 1)", p);
    if (p == 0 || !t->pass.training)
        return x;
    kernels_dropout key = tape_dropout(t, p);
    rapt_tensor *y = tape_output_over(t, x, overwrite ? x : NULL, tape_wants(t, x));
    dropout_node *node = y && y->requires_grad ? tape_alloc(t, 1, sizeof *node) : NULL;
    if (!y || (y->requires_grad && !node))
        return &t->poison;
    tape_set_disposable(t);
    dropout_drop(t, x, key, x->data, y->data);
    if (node) {
        *node = (dropout_node){.x = x, .y = y, .key = key};
        tape_record(t, &node->node, dropout_backward);
    }
    return y;
}

rapt_tensor *rapt_op_dropout(rapt_tape *t, rapt_tensor *x, double p)
{
    return observe_dropped(t, x, dropout_run(t, x, p, false));
}
