/* cli/eval/eval_compare.c: see eval_compare.h. */
#include "cli/eval/eval_compare.h"

#include <math.h>
#include <stdio.h>

static size_t eval_compare_classes(const rapt_model *m)
{
    return m->task == RAPT_TASK_TRANSLATION ? m->translation.net->config.target_vocab : m->language.net->config.vocab;
}

rapt_code eval_compare_make(eval_compare *c, const rapt_model *with, const rapt_model *m, const rapt_translate_options *o,
                            rapt_error *err)
{
    const rapt_translate_options exact = {.threads = o->threads, .weights = "fp32"};
    *c = (eval_compare){.with = with, .bleu = NAN, .chrf = NAN};
    if (with->task != m->task || eval_compare_classes(with) != eval_compare_classes(m))
        return rapt_fail(err, RAPT_ERR_VALUE, "--compare: the models are of different tasks, or have different vocabularies");
    return eval_tape_make(&c->exact, with, &exact, err);
}

void eval_compare_free(eval_compare *c)
{
    eval_tape_free(&c->exact);
}

/* The largest difference of n numbers; NaN where one is none. */
static double eval_compare_change(const rapt_real *a, const rapt_real *b, size_t n, double most)
{
    for (size_t i = 0; i < n; i++) {
        const double change = fabs((double)a[i] - (double)b[i]);
        most = isnan(most) || change <= most ? most : change;
    }
    return most;
}

rapt_code eval_compare_add(eval_compare *c, rapt_tensor *exact, const rapt_tensor *logits, rapt_tokens labels,
                           const rapt_loss_options *o, rapt_error *err)
{
    rapt_loss_sums parts = {0};
    rapt_op_cross_entropy(c->exact.t, exact, labels, o, &parts);
    rapt_code code = rapt_tape_status(c->exact.t, err);
    if (!code && !isfinite(parts.nll))
        code = rapt_fail(err, RAPT_ERR_NOT_FINITE, "--compare: the loss in fp32 is not a finite number");
    const size_t vocab = rapt_tensor_features(exact);
    if (!code && exact->ragged) /* without rows of padding */
        c->change = eval_compare_change(exact->data, logits->data, rapt_tensor_rows(exact) * vocab, c->change);
    for (size_t i = 0; i < labels.batch && !code && !exact->ragged; i++) {
        const size_t count = o->valid_lens ? (size_t)o->valid_lens[i] : labels.time, at = i * labels.time * vocab;
        c->change = eval_compare_change(exact->data + at, logits->data + at, count * vocab, c->change);
    }
    c->sum.nll += parts.nll;
    c->sum.tokens += parts.tokens;
    return code;
}

void eval_compare_print(const eval_compare *c, double nll)
{
    const double loss = c->sum.nll / (double)c->sum.tokens, now = nll / (double)c->sum.tokens;
    printf("fp32: loss %.4f, perplexity %.2f", loss, exp(loss));
    if (!isnan(c->bleu))
        printf(", BLEU %.2f, chrF %.2f", c->bleu, c->chrf);
    printf("; perplexity changed by %+.3f %%, a logit by %.3g at most\n", 100 * (exp(now - loss) - 1), c->change);
}

void eval_compare_put(const eval_compare *c, json_t *o)
{
    const double loss = c->sum.nll / (double)c->sum.tokens;
    json_t *exact = json_pack("{s:f, s:f}", "loss", loss, "perplexity", exp(loss));
    if (!isnan(c->bleu)) {
        json_object_set_new(exact, "bleu", json_real(c->bleu));
        json_object_set_new(exact, "chrf", json_real(c->chrf));
    }
    json_object_set_new(o, "fp32", exact);
    json_object_set_new(o, "largest_logit_change", json_real(c->change));
}
