/* ops/loss.c: softmax, label smoothing, masking and their gradient, a row at a time. For the loss operations, which own the
 * logits.
 *
 * For a position that counts, with classes V, smoothing e, label l:  loss = lse(x) - (1-e) x_l - e/V sum_j x_j;
 * d loss / d x_j = softmax(x)_j - e/V - (1-e) [j = l]. A log-probability is the loss with e = 0, negated. */
#include "ops/loss.h"

#include "base/math.h"

bool loss_fits(const rapt_tensor *x, rapt_tokens labels)
{
    bool long_enough = x->ndim == 3 ? x->shape[1] == labels.time : x->ragged && tape_longest(x) <= labels.time;
    return long_enough && tape_examples(x) == labels.batch;
}

rapt_tensor *loss_check(rapt_tape *t, const char *op, rapt_tokens labels, size_t classes, const rapt_loss_options *o)
{
    for (size_t i = 0; i < labels.batch * labels.time; i++)
        if (labels.ids[i] != RAPT_NO_LABEL && (labels.ids[i] < 0 || (size_t)labels.ids[i] >= classes))
            return rapt_tape_fail(t, RAPT_ERR_VALUE, "%s: label %zu is %d, there are %zu classes", op, i, labels.ids[i], classes);
    if (!(o->label_smoothing >= 0 && o->label_smoothing < 1) || !(o->normalizer >= 0))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "%s: label smoothing %g, normalizer %g", op, o->label_smoothing, o->normalizer);
    return NULL;
}

/* Fills the label of each row of x, which may be ragged although labels are padded. */
static const int32_t *row_labels(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, const int32_t *valid_lens)
{
    int32_t *of = tape_alloc(t, rapt_tensor_rows(x), sizeof *of);
    for (size_t b = 0; of && b < labels.batch; b++) {
        tape_rows rows = tape_rows_of(x, b);
        for (size_t i = 0; i < rows.count; i++) {
            bool in = !valid_lens || (int64_t)i < valid_lens[b];
            of[rows.first + i] = in ? labels.ids[b * labels.time + i] : RAPT_NO_LABEL;
        }
    }
    return of;
}

loss_rows loss_lay_out(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, size_t classes, const rapt_loss_options *o)
{
    size_t rows = rapt_tensor_rows(x);
    loss_rows n = {.rows = rows, .classes = classes, .smoothing = o->label_smoothing, .normalizer = o->normalizer};
    n.labels = row_labels(t, x, labels, o->valid_lens);
    n.row_max = tape_alloc(t, rows, sizeof *n.row_max);
    n.row_sum = tape_alloc(t, rows, sizeof *n.row_sum);
    n.row_nll = tape_alloc(t, rows, sizeof *n.row_nll);
    n.row_loss = tape_alloc(t, rows, sizeof *n.row_loss);
    return n;
}

/* The example of each row of x. */
static const size_t *row_examples(rapt_tape *t, const rapt_tensor *x, size_t examples)
{
    size_t *of = tape_alloc(t, rapt_tensor_rows(x), sizeof *of);
    for (size_t b = 0; of && b < examples; b++) {
        const tape_rows rows = tape_rows_of(x, b);
        for (size_t i = 0; i < rows.count; i++)
            of[rows.first + i] = b;
    }
    return of;
}

loss_rows loss_lay_out_examples(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, size_t classes,
                                const int32_t *valid_lens, bool requires_grad, rapt_tensor **result)
{
    loss_rows n = loss_lay_out(t, x, labels, classes, &(rapt_loss_options){.valid_lens = valid_lens});
    n.example = row_examples(t, x, labels.batch);
    *result = tape_output(t, 1, &labels.batch, requires_grad);
    return n;
}

bool loss_counts(const loss_rows *n, size_t row)
{
    return n->labels[row] != RAPT_NO_LABEL;
}

void loss_forward_row(const kernels *k, const loss_rows *n, size_t row, const rapt_real *x)
{
    n->row_nll[row] = n->row_loss[row] = 0;
    if (!loss_counts(n, row))
        return;
    k->log_sum_exp(n->classes, x, &n->row_max[row], &n->row_sum[row]);
    double lse = (double)n->row_max[row] + math_log((double)n->row_sum[row]);
    double label = (double)x[n->labels[row]];
    double mean = n->smoothing > 0 ? (double)k->sum(n->classes, x) / (double)n->classes : 0;
    n->row_nll[row] = lse - label;
    n->row_loss[row] = lse - (1 - n->smoothing) * label - n->smoothing * mean;
}

/* The rows of an example follow each other. */
static void add_up_examples(const loss_rows *n, rapt_tensor *result)
{
    for (size_t b = 0, row = 0; b < result->shape[0]; b++) {
        double sum = 0;
        for (; row < n->rows && n->example[row] == b; row++)
            sum += n->row_nll[row];
        result->data[b] = (rapt_real)-sum;
    }
}

rapt_loss_sums loss_add_up(const rapt_tape *t, loss_rows *n, rapt_tensor *result)
{
    rapt_loss_sums parts = {0};
    double sum = 0;
    if (!tape_computes(t))
        return parts;
    if (n->example) {
        add_up_examples(n, result);
        return parts;
    }
    for (size_t row = 0; row < n->rows; row++) {
        parts.tokens += loss_counts(n, row);
        parts.nll += n->row_nll[row];
        sum += n->row_loss[row];
    }
    n->normalizer = n->normalizer > 0 ? n->normalizer : parts.tokens ? (double)parts.tokens : 1;
    result->data[0] = (rapt_real)(sum / n->normalizer);
    return parts;
}

rapt_real loss_scale(const loss_rows *n, const rapt_tensor *result, size_t row)
{
    return n->example ? -result->grad[n->example[row]] : result->grad[0] * (rapt_real)(1 / n->normalizer);
}

void loss_backward_row(const kernels *k, const loss_rows *n, size_t row, rapt_real scale, size_t first, size_t count,
                       const rapt_real *x, rapt_real *dx)
{
    size_t label = (size_t)n->labels[row];
    k->softmax_gradient(count, x, n->row_max[row], 1 / n->row_sum[row], scale,
                        (rapt_real)(n->smoothing / (double)n->classes), dx);
    if (label >= first && label - first < count)
        dx[label - first] -= scale * (rapt_real)(1 - n->smoothing);
}
