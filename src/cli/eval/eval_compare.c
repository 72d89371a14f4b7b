/* cli/eval/eval_compare.c: a second model, in fp32, on the same batches. */
#include "cli/eval/eval_compare.h"

#include "io/model_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what can be compared ------------------------------------------------------------------------------------------ */

static bool eval_compare_same_sizes(const rapt_model *a, const rapt_model *b)
{
    if (a->task != RAPT_TASK_TRANSLATION)
        return a->language.net->config.vocab == b->language.net->config.vocab;
    const rapt_transformer_config *x = &a->translation.net->config, *y = &b->translation.net->config;
    const rapt_special_ids *s = &a->translation.special, *t = &b->translation.special;
    return x->source_vocab == y->source_vocab && x->target_vocab == y->target_vocab && s->unk == t->unk && s->pad == t->pad &&
           s->bos == t->bos && s->eos == t->eos;
}

rapt_code eval_compare_check(const eval_arguments *a, const rapt_model *m, rapt_error *err)
{
    const rapt_model *with = a->compare;
    if (with->task != m->task || !eval_compare_same_sizes(with, m))
        return rapt_fail(err, RAPT_ERR_VALUE, "--compare: the models are of different tasks, or have different vocabularies: "
                         "%s, %s", a->compare_with, a->model);
    const bool text = m->task == RAPT_TASK_LANGUAGE_MODEL;
    const size_t sees = text ? with->language.net->config.context : with->translation.net->config.max_positions;
    const size_t wanted = text ? m->language.net->config.context : m->translation.max_len;
    if (sees >= wanted)
        return RAPT_OK;
    if (text)
        return rapt_fail(err, RAPT_ERR_VALUE, "--compare: %s sees %zu tokens, %s %zu: --context %zu is for both", a->compare_with,
                         sees, a->model, wanted, sees);
    return rapt_fail(err, RAPT_ERR_VALUE, "--compare: %s takes sentences of %zu tokens, %s of %zu", a->compare_with, sees,
                     a->model, wanted);
}

rapt_code eval_compare_fail_ids(const eval_arguments *a, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "--compare: the tokenizers of %s and %s give different ids", a->compare_with, a->model);
}

static rapt_code eval_compare_check_line(const eval_arguments *a, const rapt_tokenizer *one, const rapt_tokenizer *other,
                                         const char *text, rapt_error *err)
{
    int32_t *ids = NULL, *others = NULL;
    size_t count, other_count;
    rapt_code code = rapt_tokenizer_encode(one, text, &ids, &count, err);
    if (!code)
        code = rapt_tokenizer_encode(other, text, &others, &other_count, err);
    if (!code && (count != other_count || memcmp(ids, others, count * sizeof *ids) != 0))
        code = eval_compare_fail_ids(a, err);
    free(ids);
    free(others);
    return code;
}

rapt_code eval_compare_check_pairs(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err)
{
    const rapt_translation_model *x = &m->translation, *y = &a->compare->translation;
    const bool sources = rapt_tokenizer_hash(x->source) != rapt_tokenizer_hash(y->source);
    const bool targets = rapt_tokenizer_hash(x->target) != rapt_tokenizer_hash(y->target);
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_pairs_count(pairs) && !code; i++) {
        if (sources)
            code = eval_compare_check_line(a, x->source, y->source, rapt_pairs_source(pairs, i), err);
        if (targets && !code)
            code = eval_compare_check_line(a, x->target, y->target, rapt_pairs_target(pairs, i), err);
    }
    return code;
}

/* ---- what changes --------------------------------------------------------------------------------------------------- */

rapt_code eval_compare_make(eval_compare *c, const rapt_model *with, const rapt_translate_options *o, rapt_error *err)
{
    const rapt_compute exact = {.threads = o->compute.threads, .weights = "fp32"};
    *c = (eval_compare){.with = with, .bleu = NAN, .chrf = NAN};
    return model_tapes_make(&c->exact, with, &exact, MODEL_TAPES_ALL | MODEL_TAPES_PACK_IF_NEEDED, err);
}

void eval_compare_free(eval_compare *c)
{
    model_tapes_free(&c->exact);
}

/* The larger of `most` and the largest difference of n numbers; NaN if one of them is NaN. */
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
    rapt_op_cross_entropy(c->exact.all, exact, labels, o, &parts);
    rapt_code code = rapt_tape_status(c->exact.all, err);
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

rapt_code eval_compare_watch(void *context, const score_batch *b, rapt_error *err)
{
    eval_compare *c = context;
    rapt_tape_begin(c->exact.all, (rapt_pass){0});
    return eval_compare_add(c, rapt_lm_forward(c->exact.all, c->with->language.net, b->inputs), b->logits, b->labels,
                            &(rapt_loss_options){.valid_lens = b->valid_lens}, err);
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
