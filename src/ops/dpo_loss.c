/* ops/dpo_loss.c: the loss of direct preference optimization over the log-probabilities of pairs of answers, a few numbers. For
 * rapt_lm_log_probs, which takes the time.
 *
 * With z = beta ((c - c_ref) - (r - r_ref)), smoothing e:  loss = (1-e) softplus(-z) + e softplus(z);
 * d loss / d c = -d loss / d r = beta (e sigmoid(z) - (1-e) sigmoid(-z)). */
#include "base/math.h"
#include "tape/profile_op.h"
#include "tape/tape_core.h"

#include <math.h>

typedef struct dpo_node {
    tape_node node;
    rapt_tensor *x, *loss;
    double *slope; /* [pairs] derivative of the loss by the chosen answer's log-probability */
} dpo_node;

/* log(1 + exp(x)), without the rounding of 1 + exp(x) (Kahan). */
static double softplus(double x)
{
    const double e = math_exp(-fabs(x)), sum = 1 + e;
    return (x > 0 ? x : 0) + (sum > 1 ? math_log(sum) * e / (sum - 1) : e);
}

static double dpo_sigmoid(double x)
{
    const double e = math_exp(-fabs(x));
    return (x > 0 ? 1 : e) / (1 + e);
}

/* Adds a pair to the sums; gives the slope of its loss by z. */
static double dpo_pair(const rapt_real *x, const rapt_real *reference, const rapt_dpo_options *o, rapt_dpo_sums *s)
{
    const double e = o->label_smoothing;
    const double chosen = o->beta * ((double)x[0] - (double)reference[0]);
    const double rejected = o->beta * ((double)x[1] - (double)reference[1]), z = chosen - rejected;
    s->loss += (1 - e) * softplus(-z) + (e > 0 ? e * softplus(z) : 0); /* 0 times an infinite loss is no number */
    s->chosen += chosen;
    s->rejected += rejected;
    s->correct += z > 0;
    s->pairs++;
    return e * dpo_sigmoid(z) - (1 - e) * dpo_sigmoid(-z);
}

static void dpo_loss_backward(rapt_tape *t, tape_node *node)
{
    const dpo_node *n = (dpo_node *)node;
    rapt_real *dx = n->loss->grad_filled ? tape_grad_zeroed(t, n->x) : NULL;
    if (!dx || !tape_computes(t))
        return;
    for (size_t i = 0; i < n->x->shape[0]; i += 2) {
        const rapt_real d = (rapt_real)((double)n->loss->grad[0] * n->slope[i / 2]);
        dx[i] += d;
        dx[i + 1] -= d;
    }
}

static rapt_tensor *dpo_loss_check(rapt_tape *t, const rapt_tensor *x, const rapt_dpo_options *o)
{
    char text[96];
    if (x->ndim != 1 || x->shape[0] % 2 != 0)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "dpo_loss: log-probabilities %s are no pairs",
                              rapt_shape_text(x, text, sizeof text));
    if (!(o->beta > 0) || !(o->label_smoothing >= 0 && o->label_smoothing < 0.5) || !(o->normalizer >= 0))
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "dpo_loss: beta %g, label smoothing %g, normalizer %g", o->beta,
                              o->label_smoothing, o->normalizer);
    return NULL;
}

rapt_tensor *rapt_op_dpo_loss(rapt_tape *t, rapt_tensor *log_probs, const rapt_real *reference, const rapt_dpo_options *options,
                              rapt_dpo_sums *sums)
{
    rapt_tensor *bad;
    rapt_dpo_sums s = {0};
    if (sums)
        *sums = s;
    if (tape_failed(t))
        return &t->poison;
    if ((bad = dpo_loss_check(t, log_probs, options)))
        return bad;
    const size_t pairs = log_probs->shape[0] / 2;
    dpo_node *n = tape_alloc(t, 1, sizeof *n);
    double *slope = tape_alloc(t, pairs, sizeof *slope);
    rapt_tensor *loss = tape_output(t, 1, (size_t[]){1}, tape_wants(t, log_probs));
    if (tape_failed(t))
        return &t->poison;
    *n = (dpo_node){.x = log_probs, .loss = loss, .slope = slope};
    profile_op(t, "DPO loss", 0, (double)log_probs->shape[0]);
    const double normalizer = options->normalizer > 0 ? options->normalizer : (double)pairs;
    for (size_t i = 0; tape_computes(t) && i < pairs; i++)
        slope[i] = options->beta / normalizer * dpo_pair(log_probs->data + 2 * i, reference + 2 * i, options, &s);
    if (tape_computes(t))
        loss->data[0] = (rapt_real)(s.loss / normalizer);
    if (sums)
        *sums = s;
    if (loss->requires_grad)
        tape_record(t, &n->node, dpo_loss_backward);
    return loss;
}
