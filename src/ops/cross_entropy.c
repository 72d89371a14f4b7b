/* ops/cross_entropy.c: softmax, label smoothing, masking and their gradient in one operation: the loss of every model.
 *
 * For a position that counts, with classes V, smoothing e, label l:  loss = lse(x) - (1-e) x_l - e/V sum_j x_j;
 * d loss / d x_j = softmax(x)_j - e/V - (1-e) [j = l]. */
#include "ops/tape.h"

#include "base/math.h"

#include <string.h>

#define IGNORED (-1)

typedef struct loss_node {
    tape_node node;
    rapt_tensor *logits, *loss;
    const int32_t *labels; /* of each row; IGNORED where it doesn't count */
    size_t rows, classes;
    double smoothing, normalizer;
    rapt_real *row_max, *row_sum;
    double *row_nll, *row_loss;
} loss_node;

typedef struct loss_loop {
    rapt_tape *t;
    const loss_node *n;
    rapt_real *dx;
    bool accumulate;
    rapt_real *scratch; /* one row for each worker, where dx accumulates */
} loss_loop;

static bool counts(const loss_node *n, size_t row)
{
    return n->labels[row] != IGNORED;
}

static void forward_row(const loss_loop *loop, size_t row)
{
    const loss_node *n = loop->n;
    const kernels *k = loop->t->k;
    const rapt_real *x = n->logits->data + row * n->classes;
    n->row_nll[row] = n->row_loss[row] = 0;
    if (!counts(n, row))
        return;
    k->log_sum_exp(n->classes, x, &n->row_max[row], &n->row_sum[row]);
    double lse = (double)n->row_max[row] + math_log((double)n->row_sum[row]);
    double label = (double)x[n->labels[row]];
    double mean = n->smoothing > 0 ? (double)k->sum(n->classes, x) / (double)n->classes : 0;
    n->row_nll[row] = lse - label;
    n->row_loss[row] = lse - (1 - n->smoothing) * label - n->smoothing * mean;
}

static void forward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    (void)chunk, (void)worker;
    for (size_t row = first; row < last; row++)
        forward_row(context, row);
}

static void backward_row(const loss_loop *loop, size_t row, rapt_real scale, rapt_real *to)
{
    const loss_node *n = loop->n;
    if (!counts(n, row)) {
        memset(to, 0, n->classes * sizeof *to);
        return;
    }
    loop->t->k->softmax_gradient(n->classes, n->logits->data + row * n->classes, n->row_max[row],
                                 1 / n->row_sum[row], scale, (rapt_real)(n->smoothing / (double)n->classes), to);
    to[n->labels[row]] -= scale * (rapt_real)(1 - n->smoothing);
}

static void backward_rows(void *context, size_t first, size_t last, size_t chunk, int worker)
{
    const loss_loop *loop = context;
    const loss_node *n = loop->n;
    rapt_real scale = n->loss->grad[0] * (rapt_real)(1 / n->normalizer);
    (void)chunk;
    for (size_t row = first; row < last; row++) {
        rapt_real *dx = loop->dx + row * n->classes;
        rapt_real *to = loop->accumulate ? loop->scratch + (size_t)worker * n->classes : dx;
        backward_row(loop, row, scale, to);
        if (loop->accumulate)
            loop->t->k->add(n->classes, dx, to, dx);
    }
}

static void backward(rapt_tape *t, tape_node *node)
{
    loss_node *n = (loss_node *)node;
    loss_loop loop = {.t = t, .n = n};
    loop.dx = n->loss->grad_filled ? tape_grad(t, n->logits, &loop.accumulate) : NULL;
    loop.scratch = tape_scratch(t, n->classes * (size_t)rapt_tape_threads(t), sizeof *loop.scratch);
    if (loop.dx && loop.scratch)
        tape_units(t, n->rows, 2 * n->classes, backward_rows, &loop);
}

static rapt_tensor *check(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, const rapt_loss_options *o)
{
    char text[96];
    if (!(x->ndim == 3 ? x->shape[1] == labels.time : x->ragged && tape_longest(x) <= labels.time) ||
        tape_examples(x) != labels.batch)
        return rapt_tape_fail(t, RAPT_SHAPE, "cross_entropy: logits %s for %zu x %zu labels",
                              rapt_shape_text(x, text, sizeof text), labels.batch, labels.time);
    for (size_t i = 0; i < labels.batch * labels.time; i++)
        if (labels.ids[i] < 0 || (size_t)labels.ids[i] >= rapt_tensor_features(x))
            return rapt_tape_fail(t, RAPT_VALUE, "cross_entropy: label %zu is %d, there are %zu classes", i, labels.ids[i],
                                  rapt_tensor_features(x));
    if (!(o->label_smoothing >= 0 && o->label_smoothing < 1) || !(o->normalizer >= 0))
        return rapt_tape_fail(t, RAPT_VALUE, "cross_entropy: label smoothing %g, normalizer %g", o->label_smoothing,
                              o->normalizer);
    return NULL;
}

/* The label of each row of the logits, which may be ragged where the labels are padded. */
static const int32_t *row_labels(rapt_tape *t, const rapt_tensor *logits, rapt_tokens labels, const int32_t *valid_lens)
{
    int32_t *of = tape_alloc(t, rapt_tensor_rows(logits), sizeof *of);
    for (size_t b = 0; of && b < labels.batch; b++) {
        tape_rows rows = tape_rows_of(logits, b);
        for (size_t i = 0; i < rows.count; i++) {
            bool in = !valid_lens || (int64_t)i < valid_lens[b];
            of[rows.first + i] = in ? labels.ids[b * labels.time + i] : IGNORED;
        }
    }
    return of;
}

static loss_node lay_out(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels, const rapt_loss_options *o)
{
    size_t rows = rapt_tensor_rows(logits);
    loss_node n = {.logits = logits, .rows = rows, .classes = rapt_tensor_features(logits),
                   .smoothing = o->label_smoothing, .normalizer = o->normalizer};
    n.labels = row_labels(t, logits, labels, o->valid_lens);
    n.row_max = tape_alloc(t, rows, sizeof *n.row_max);
    n.row_sum = tape_alloc(t, rows, sizeof *n.row_sum);
    n.row_nll = tape_alloc(t, rows, sizeof *n.row_nll);
    n.row_loss = tape_alloc(t, rows, sizeof *n.row_loss);
    n.loss = tape_output(t, 1, (size_t[]){1}, tape_wants(t, logits));
    return n;
}

/* Adds up the rows in order. */
static rapt_loss_parts add_up(loss_node *n)
{
    rapt_loss_parts parts = {0};
    double loss = 0;
    for (size_t row = 0; row < n->rows; row++) {
        parts.tokens += counts(n, row);
        parts.nll += n->row_nll[row];
        loss += n->row_loss[row];
    }
    n->normalizer = n->normalizer > 0 ? n->normalizer : parts.tokens ? (double)parts.tokens : 1;
    n->loss->data[0] = (rapt_real)(loss / n->normalizer);
    return parts;
}

rapt_tensor *rapt_cross_entropy(rapt_tape *t, rapt_tensor *logits, rapt_tokens labels, const rapt_loss_options *options,
                                rapt_loss_parts *parts)
{
    rapt_tensor *bad;
    options = options ? options : &(rapt_loss_options){0};
    if (tape_failed(t))
        return &t->poison;
    if ((bad = check(t, logits, labels, options)))
        return bad;
    loss_node *n = tape_alloc(t, 1, sizeof *n);
    if (!n)
        return &t->poison;
    *n = lay_out(t, logits, labels, options);
    if (tape_failed(t))
        return &t->poison;
    loss_loop loop = {.t = t, .n = n};
    tape_units(t, n->rows, 2 * n->classes, forward_rows, &loop);
    rapt_loss_parts sums = add_up(n);
    if (parts)
        *parts = sums;
    if (n->loss->requires_grad)
        tape_record(t, &n->node, backward);
    return n->loss;
}
