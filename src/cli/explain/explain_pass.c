/* cli/explain/explain_pass.c: the pass that `rapt explain` looks at: forward over all positions at once, what the model expects
 * after each, and with --train the loss and the way back. What a step looks like is the business of others. */
#include "cli/explain/cmd_explain.h"

#include "base/math.h"
#include "decode/sampler.h"
#include "ops/tape_core.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)

/* ---- what comes next --------------------------------------------------------------------------------------------- */

/* Tokens are told apart by their logits, which are equal less often than probabilities are. */
static rapt_code rank_tokens(explanation *e, const rapt_observation *logits, arena *scratch, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    size_t vocab = rapt_tensor_features(logits->tensor);
    for (size_t i = 0; i < explain_last(e)->count && !code; i++) {
        sampler_input in = {.logits = logits->values + i * vocab, .vocab = vocab, .position = i};
        code = sampler_likeliest(e->t->k, &in, e->top, e->likeliest + i * e->top, e->probabilities + i * e->top, scratch, err);
    }
    return code;
}

/* The loss of each label, as rapt_op_cross_entropy has it. */
static void find_losses(explanation *e, const rapt_observation *logits)
{
    size_t vocab = rapt_tensor_features(logits->tensor);
    for (size_t i = 0; i < e->label_count; i++) {
        rapt_real max, sum;
        const rapt_real *row = logits->values + i * vocab;
        e->t->k->log_sum_exp(vocab, row, &max, &sum);
        e->nll[i] = (double)max + math_log((double)sum) - (double)row[e->labels[i]];
    }
}

static rapt_code find_likeliest(explanation *e, const rapt_observation *logits, rapt_error *err)
{
    arena scratch;
    size_t count = explain_last(e)->count, vocab = rapt_tensor_features(logits->tensor);
    e->top = vocab < EXPLAIN_TOP ? vocab : EXPLAIN_TOP;
    e->likeliest = malloc(count * e->top * sizeof *e->likeliest);
    e->probabilities = malloc(count * e->top * sizeof *e->probabilities);
    e->nll = malloc((e->label_count + 1) * sizeof *e->nll);
    if (!e->likeliest || !e->probabilities || !e->nll)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for %zu predictions", count);
    find_losses(e, logits);
    arena_init(&scratch, CHUNK);
    rapt_code code = rank_tokens(e, logits, &scratch, err);
    arena_free(&scratch);
    return code;
}

/* The sampler's softmax is another one than the pass's, which is the one that is shown. */
static void take_probabilities(explanation *e, const rapt_observation *s)
{
    size_t vocab = rapt_tensor_features(s->tensor);
    for (size_t i = 0; i < explain_last(e)->count * e->top; i++)
        e->probabilities[i] = (double)s->values[i / e->top * vocab + (size_t)e->likeliest[i]];
}

static rapt_code predict(explanation *e, const rapt_observation *s, rapt_error *err)
{
    if (s->gradient)
        return RAPT_OK;
    if (strcmp(s->name, "probabilities") == 0)
        take_probabilities(e, s);
    bool logits = strcmp(s->name, e->m->task == RAPT_TASK_TRANSLATION ? "decoder.output" : "output") == 0;
    return logits ? find_likeliest(e, s, err) : RAPT_OK;
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

/* What goes wrong here stops the pass. */
static void take_step(void *context, const rapt_observation *s)
{
    explanation *e = context;
    rapt_error err = {0};
    if (e->failure)
        return;
    bool wanted = explain_wants(e, s->name);
    e->failure = predict(e, s, &err);
    if (wanted && e->text && !e->failure)
        e->failure = explain_print_step(e, s, &err);
    if (wanted && e->steps && !e->failure)
        e->failure = explain_add_step(e, s, &err);
    if (e->failure)
        rapt_tape_fail(e->t, e->failure, "%s", err.message);
}

static rapt_tokens explain_pass_tokens_of(const explain_sequence *s)
{
    return (rapt_tokens){.ids = s->ids, .batch = 1, .time = s->count};
}

static rapt_tensor *explain_pass_forward(const explanation *e)
{
    if (e->m->task == RAPT_TASK_LANGUAGE_MODEL)
        return rapt_lm_forward(e->t, e->m->lm, explain_pass_tokens_of(&e->sequences[0]));
    return rapt_transformer_forward(e->t, e->m->net, explain_pass_tokens_of(&e->sequences[0]), NULL,
                                    explain_pass_tokens_of(&e->sequences[1]));
}

/* ---- --train ----------------------------------------------------------------------------------------------------- */

static rapt_code explain_pass_learn(explanation *e, rapt_tensor *logits, rapt_error *err)
{
    int32_t len = (int32_t)e->label_count;
    rapt_tokens labels = {.ids = e->labels, .batch = 1, .time = explain_last(e)->count};
    rapt_tensor *loss = rapt_op_cross_entropy(e->t, logits, labels, &(rapt_loss_options){.valid_lens = &len}, NULL);
    rapt_code code = rapt_tape_status(e->t, err);
    if (code)
        return code;
    e->loss = (double)loss->data[0];
    if (explain_wants(e, "loss") && e->text)
        code = explain_print_loss(e, err);
    return code ? code : rapt_backward(e->t, loss, err);
}

/* ------------------------------------------------------------------------------------------------------------------ */

rapt_code explain_pass(explanation *e, rapt_error *err)
{
    if (explain_wants(e, "tokens") && e->text)
        explain_print_tokens(e);
    rapt_observe(e->t, take_step, e);
    rapt_tape_begin(e->t, (rapt_pass){.record = e->a->train});
    rapt_tensor *logits = explain_pass_forward(e);
    rapt_code code = rapt_tape_status(e->t, err);
    if (explain_wants(e, "predictions") && !code && e->text)
        code = explain_print_likeliest(e, err);
    if (!code && e->a->train)
        code = explain_pass_learn(e, logits, err);
    rapt_observe(e->t, NULL, NULL);
    return code ? code : rapt_tape_status(e->t, err);
}
