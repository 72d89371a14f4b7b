/* ops/dropout.c: dropout (Srivastava et al. 2014), inverted: what is kept is scaled by 1/(1-p). For the stepwise
 * forms; embeddings, attention and add & norm drop inside. The mask is drawn again in the backward pass. */
#include "ops/tape.h"

typedef struct dropout_node {
    tape_node node;
    rapt_tensor *x, *y;
    kernels_dropout key;
} dropout_node;

/* The same drop of a whole tensor, forward on data, backward on gradients: [batch, heads, rows, columns]. */
static void drop(rapt_tape *t, const rapt_tensor *x, kernels_dropout key, const rapt_real *from, rapt_real *to)
{
    size_t batch = x->ndim > 2 ? x->shape[0] : 1, heads = x->ndim > 3 ? x->shape[1] : 1;
    size_t columns = rapt_tensor_features(x), rows = rapt_tensor_rows(x) / batch / heads;
    for (size_t b = 0; b < batch; b++)
        for (size_t h = 0; h < heads; h++) {
            size_t at = (b * heads + h) * rows * columns;
            key.example = tape_example(t, b);
            key.head = (uint32_t)h;
            t->k->dropout(&key, 0, rows, columns, from + at, columns, to + at, columns);
        }
}

static void backward(rapt_tape *t, tape_node *node)
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
    drop(t, d->x, d->key, d->y->grad, dropped);
    if (accumulate)
        t->k->add(n, dx, dropped, dx);
}

rapt_tensor *rapt_dropout(rapt_tape *t, rapt_tensor *x, double p)
{
    if (tape_failed(t))
        return &t->poison;
    if (!(p >= 0 && p < 1))
        return rapt_tape_fail(t, RAPT_VALUE, "dropout: probability %g is not in [0, 1)", p);
    if (p == 0 || !t->pass.training)
        return x;
    kernels_dropout key = tape_dropout(t, p);
    rapt_tensor *y = tape_output_like(t, x, tape_wants(t, x));
    dropout_node *node = y && y->requires_grad ? tape_alloc(t, 1, sizeof *node) : NULL;
    if (!y || (y->requires_grad && !node))
        return &t->poison;
    drop(t, x, key, x->data, y->data);
    if (node) {
        *node = (dropout_node){.x = x, .y = y, .key = key};
        tape_record(t, &node->node, backward);
    }
    return y;
}
