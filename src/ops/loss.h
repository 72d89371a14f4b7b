/* ops/loss.h: the rows of a cross-entropy: which positions count, the loss of each, and its gradient. For the operations on given
 * logits (cross_entropy.c) and the operations that compute the logits themselves (output_loss.c). The results are a loss, the
 * mean over rows, or log-probabilities, a sum for each example. */
#ifndef OPS_LOSS_H
#define OPS_LOSS_H

#include "tape/tape_core.h"

/* Arrays with one entry per row, in the memory of the pass. */
typedef struct loss_rows {
    const int32_t *labels; /* label of each row; RAPT_NO_LABEL: the row does not count */
    const size_t *example; /* of each row: the result has an element for each example; NULL: it has one, the loss */
    size_t rows, classes;
    double smoothing, normalizer;
    rapt_real *row_max, *row_sum;
    double *row_nll, *row_loss;
} loss_rows;

/* Whether x has a row for each label: [batch, time, feature], or ragged with rows up to `time`. */
bool loss_fits(const rapt_tensor *x, rapt_tokens labels);
/* NULL, or the poison tensor if labels or options are invalid. `op` begins the message. */
rapt_tensor *loss_check(rapt_tape *t, const char *op, rapt_tokens labels, size_t classes, const rapt_loss_options *o);
/* Prepares the rows of x: logits, or the input of the output layer. */
loss_rows loss_lay_out(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, size_t classes, const rapt_loss_options *o);
/* Prepares rows for log-probabilities, and *result, a sum for each of labels.batch examples. */
loss_rows loss_lay_out_examples(rapt_tape *t, const rapt_tensor *x, rapt_tokens labels, size_t classes,
                                const int32_t *valid_lens, bool requires_grad, rapt_tensor **result);

bool loss_counts(const loss_rows *n, size_t row);
/* Computes the loss of a row; x: its logits, which are not read if the row does not count. */
void loss_forward_row(const kernels *k, const loss_rows *n, size_t row, const rapt_real *x);
/* Sums the rows in order, into `result` and what is returned; zeros in a pass that is only counted. */
rapt_loss_sums loss_add_up(const rapt_tape *t, loss_rows *n, rapt_tensor *result);

/* The factor of a row's gradient, from the gradient of the result and the normalizer. */
rapt_real loss_scale(const loss_rows *n, const rapt_tensor *result, size_t row);
/* The gradient of logits first .. first + count - 1 of a row that counts. x and dx point at the first; dx may be x. */
void loss_backward_row(const kernels *k, const loss_rows *n, size_t row, rapt_real scale, size_t first, size_t count,
                       const rapt_real *x, rapt_real *dx);

#endif
