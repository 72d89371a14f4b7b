/* explain/explain_predict.c: the next-token probabilities after each position, and the loss of each label, from the logits of a
 * pass, the model's own or the logit lens's. */
#include "explain/explanation.h"

#include "base/math.h"
#include "decode/sampler.h"
#include "io/model_core.h"

#include <string.h>

#define CHUNK ((size_t)64 << 10)

/* Tokens are ranked by their logits, which are equal less often than probabilities. `logits` is [tokens, vocab]. */
static rapt_code rank_tokens(const rapt_explanation *e, const kernels *k, const rapt_real *logits, size_t vocab,
                             explain_predictions *to, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    arena scratch;
    arena_init(&scratch, CHUNK);
    for (size_t i = 0; i < explain_last(e)->count && !code; i++) {
        sampler_input in = {.logits = logits + i * vocab, .vocab = vocab, .position = i};
        code = sampler_likeliest(k, &in, e->top, to->ids + i * e->top, to->probabilities + i * e->top, &scratch, err);
    }
    arena_free(&scratch);
    return code;
}

/* The loss of each label, as rapt_op_cross_entropy has it: log sum exp(logits) - logit of the label. */
static void find_losses(const rapt_explanation *e, const kernels *k, const rapt_real *logits, size_t vocab, double *nll)
{
    for (size_t i = 0; i < e->label_count; i++) {
        rapt_real max, sum;
        const rapt_real *row = logits + i * vocab;
        k->log_sum_exp(vocab, row, &max, &sum);
        nll[i] = (double)max + math_log((double)sum) - (double)row[e->labels[i]];
    }
}

static rapt_code take_logits(rapt_explanation *e, const kernels *k, const rapt_observation *logits, explain_predictions *to,
                             rapt_error *err)
{
    const size_t count = explain_last(e)->count, vocab = rapt_tensor_features(logits->tensor);
    e->top = vocab < EXPLAIN_TOP ? vocab : EXPLAIN_TOP;
    to->ids = arena_array(&e->memory, count * e->top, sizeof *to->ids);
    to->probabilities = arena_array(&e->memory, count * e->top, sizeof *to->probabilities);
    to->nll = arena_array(&e->memory, e->label_count + 1, sizeof *to->nll);
    if (!to->ids || !to->probabilities || !to->nll)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu predictions", count);
    find_losses(e, k, logits->values, vocab, to->nll);
    return rank_tokens(e, k, logits->values, vocab, to, err);
}

bool explain_is_logits(const rapt_explanation *e, const rapt_observation *o)
{
    return strcmp(o->name, e->model->task == RAPT_TASK_TRANSLATION ? "decoder.output" : "output") == 0;
}

bool explain_is_probabilities(const rapt_observation *o)
{
    return strcmp(o->name, "probabilities") == 0;
}

/* Not the sampler's softmax, because the page shows the softmax of the pass. */
rapt_code explain_predict(rapt_explanation *e, const kernels *k, const rapt_observation *o, explain_predictions *to,
                          rapt_error *err)
{
    const size_t vocab = rapt_tensor_features(o->tensor);
    if (explain_is_logits(e, o))
        return take_logits(e, k, o, to, err);
    if (explain_is_probabilities(o))
        for (size_t i = 0; i < explain_last(e)->count * e->top; i++)
            to->probabilities[i] = (double)o->values[i / e->top * vocab + (size_t)to->ids[i]];
    return RAPT_OK;
}

rapt_explained_prediction explain_prediction(const rapt_explanation *e, const explain_predictions *of, size_t position)
{
    if (position >= explain_last(e)->count)
        return (rapt_explained_prediction){0};
    const bool has_label = position < e->label_count;
    return (rapt_explained_prediction){.count = e->top, .ids = of->ids + position * e->top,
                                       .probabilities = of->probabilities + position * e->top, .has_label = has_label,
                                       .label = has_label ? e->labels[position] : 0, .loss = has_label ? of->nll[position] : 0};
}
