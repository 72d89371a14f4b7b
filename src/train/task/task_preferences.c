/* train/task/task_preferences.c: preference tuning: direct preference optimization (Rafailov et al. 2023) of a language model on
 * pairs of answers. Data and batches are task_conversations.c's; a batch has both answers of a pair, one after the other.
 *
 * The reference is the model that the run starts from. Its log-probabilities of all answers are computed before the first step,
 * two numbers a pair, with the run's own tape: adapters are still zero, and sums have one order in any batch, so that they are
 * the model's own, bit for bit, and the first loss is ln 2. A resumed run computes them anew from the same model. */
#include "train/task/task_conversations.h"

#include "data/dataset.h"
#include "io/model_core.h"
#include "tape/tape_core.h"

#include <math.h>
#include <stdlib.h>

/* ---- the reference ------------------------------------------------------------------------------------------------- */

static rapt_code take_log_probs(const run *r, const rapt_batch *b, const rapt_tensor *x, rapt_real *to, rapt_error *err)
{
    for (size_t i = 0; i < b->labels.batch; i++) {
        to[b->examples[i]] = x->data[i];
        if (!isfinite(x->data[i]))
            return rapt_fail(err, RAPT_ERR_NOT_FINITE, "%s: the model gives an answer of preference %u the log-probability %g",
                             r->init, b->examples[i] / 2 + 1, (double)x->data[i]);
    }
    return RAPT_OK;
}

/* The log-probabilities of all rows of a set. */
static rapt_code reference_of(run *r, const rapt_dataset *set, rapt_real *to, rapt_error *err)
{
    rapt_loader *l = task_conversations_loader(r, set, false, err);
    rapt_code code = l ? RAPT_OK : err->code;
    for (size_t i = 0; !code && i < rapt_loader_batches(l); i++) {
        run_phase(r, "log-probabilities of the reference", i, rapt_loader_batches(l));
        code = run_stopped(r, err);
        const rapt_batch *b = code ? NULL : rapt_loader_batch(l, 0, i);
        if (!code && !b)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch");
        if (code)
            break;
        rapt_tape_begin(r->tape, (rapt_pass){0});
        const rapt_tensor *x = rapt_lm_log_probs(r->tape, r->model->language.net, b->inputs, b->labels, b->target_lens);
        code = rapt_tape_status(r->tape, err);
        code = code ? code : take_log_probs(r, b, x, to, err);
    }
    rapt_loader_free(l);
    return code;
}

static rapt_code make_reference(run *r, const rapt_dataset *set, rapt_real **to, rapt_error *err)
{
    *to = calloc(dataset_rows(set), sizeof **to);
    return *to ? reference_of(r, set, *to, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the reference");
}

/* Every process of a group computes all of it. A pass takes less memory than a training step, which was counted. */
static rapt_code start_preferences(run *r, rapt_error *err)
{
    conversations *d = r->data;
    rapt_code code = make_reference(r, d->train, &d->reference, err);
    return code || !d->validation ? code : make_reference(r, d->validation, &d->validation_reference, err);
}

/* ---- the loss ------------------------------------------------------------------------------------------------------ */

static rapt_tensor *preferences_loss(const run *r, const train_batch *b, const rapt_loss_options *o, pass_sums *sums)
{
    rapt_dpo_sums s = {0};
    const rapt_dpo_options dpo = {r->recipe->train.dpo.beta, r->recipe->train.dpo.label_smoothing, o->normalizer};
    rapt_real *reference = tape_alloc(r->tape, b->labels.batch, sizeof *reference);
    for (size_t i = 0; reference && i < b->labels.batch; i++)
        reference[i] = b->reference ? b->reference[b->examples[i]] : 0;
    rapt_tensor *x = rapt_lm_log_probs(r->tape, r->model->language.net, b->inputs, b->labels, o->valid_lens);
    rapt_tensor *loss = rapt_op_dpo_loss(r->tape, x, reference, &dpo, &s);
    *sums = (pass_sums){.loss = {s.loss, s.pairs}, .rewards = {s.chosen, s.rejected, s.correct}};
    return loss;
}

const train_task train_preferences = {TASK_CONVERSATIONS, .start = start_preferences, .loss = preferences_loss};
