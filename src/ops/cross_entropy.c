/* ops/cross_entropy.c: softmax, label smoothing, masking and their gradient in one operation: the loss of given logits, or the
 * log-probability of each example. loss.c has the arithmetic of a row; output_loss.c also computes the logits. */
#include "ops/loss.h"
#include "tape/profile_op.h"

#include <string.h>

typedef struct loss_node {
    tape_node node;
    rapt_tensor *logits, *loss;
    loss_rows rows;
} loss_node;

typedef struct loss_loop {
    rapt_tape *t;
    const loss_node *n;
    rapt_real *dx;
    bool accumulate;
    rapt_real *scratch; /* one row for each worker, if dx accumulates */
} loss_loop;

static void cross_entropy_forward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const loss_loop *loop = context;
    const loss_node *n = loop->n;
    (void)chunk, (void)worker;
    for (size_t row = first; row < last; row++)
        loss_forward_row(loop->t->k, &n->rows, row, n->logits->data + row * n->rows.classes);
}

static void backward_row(const loss_loop *loop, size_t row, rapt_real *to)
{
    const loss_rows *n = &loop->n->rows;
    if (loss_counts(n, row))
        loss_backward_row(loop->t->k, n, row, loss_scale(n, loop->n->loss, row), 0, n->classes,
                          loop->n->logits->data + row * n->classes, to);
    else
        memset(to, 0, n->classes * sizeof *to);
}

static void cross_entropy_backward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const loss_loop *loop = context;
    size_t classes = loop->n->rows.classes;
    (void)chunk;
    for (size_t row = first; row < last; row++) {
        rapt_real *dx = loop->dx + row * classes;
        rapt_real *to = loop->accumulate ? loop->scratch + (size_t)worker * classes : dx;
        backward_row(loop, row, to);
        if (loop->accumulate)
            loop->t->k->add(classes, dx, to, dx);
    }
}

static void cross_entropy_backward(rapt_tape *t, tape_node *node)
{
    loss_node *n = (loss_node *)node;
    loss_loop loop = {.t = t, .n = n};
    loop.dx = n->loss->grad_filled ? tape_grad(t, n->logits, &loop.accumulate) : NULL;
    loop.scratch = tape_scratch(t, n->rows.classes * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    profile_op(t, "cross-entropy", 0, 2.0 * (double)rapt_tensor_size(n->logits));
    if (loop.dx && loop.scratch)
        tape_units(t, n->rows.rows, 2 * n->rows.classes, cross_entropy_backward_rows, &loop);
}

static rapt_tensor *cross_entropy_check(rapt_tape *t, const char *op, const rapt_tensor *x, rapt_tokens labels,
                                        const rapt_loss_options *o)
{
    char text[96];
    if (!loss_fits(x, labels))
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%s: logits %s for %zu x %zu labels", op,
                              rapt_shape_text(x, text, sizeof text), labels.batch, labels.time);
    return loss_check(t, op, labels, rapt_tensor_features(x), o);
}

/* Computes the result of rows that are laid out. */
static rapt_loss_sums cross_entropy_run(rapt_tape *t, loss_node *n)
{
    loss_loop loop = {.t = t, .n = n};
    profile_op(t, "cross-entropy", 0, (double)rapt_tensor_size(n->logits));
    tape_units(t, n->rows.rows, 2 * n->rows.classes, cross_entropy_forward_rows, &loop);
    const rapt_loss_sums sums = loss_add_up(t, &n->rows, n->loss);
    if (n->loss->requires_grad)
        tape_record(t, &n->node, cross_entropy_backward);
    return sums;
}

rapt_tensor *rapt_op_cross_entropy(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels, const rapt_loss_options *options,
                                   rapt_loss_sums *parts)
{
    rapt_tensor *bad;
    options = options ? options : &(rapt_loss_options){0};
    if (parts)
        *parts = (rapt_loss_sums){0};
    if (tape_failed(t))
        return &t->poison;
    if ((bad = cross_entropy_check(t, "cross_entropy", logits, labels, options)))
        return bad;
    loss_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = (loss_node){.logits = logits, .rows = loss_lay_out(t, logits, labels, rapt_tensor_features(logits), options)};
    n->loss = tape_output(t, 1, (size_t[]){1}, tape_wants(t, logits));
    if (tape_failed(t))
        return &t->poison;
    const rapt_loss_sums sums = cross_entropy_run(t, n);
    if (parts)
        *parts = sums;
    return n->loss;
}

rapt_tensor *rapt_op_log_probs(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels, const int32_t *valid_lens)
{
    rapt_tensor *bad;
    if (tape_failed(t))
        return &t->poison;
    if ((bad = cross_entropy_check(t, "log_probs", logits, labels, &(rapt_loss_options){0})))
        return bad;
    loss_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = (loss_node){.logits = logits};
    n->rows = loss_lay_out_examples(t, logits, labels, rapt_tensor_features(logits), valid_lens, tape_wants(t, logits), &n->loss);
    if (tape_failed(t))
        return &t->poison;
    cross_entropy_run(t, n);
    return n->loss;
}
