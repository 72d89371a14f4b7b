/* train/report.c: evaluates a run, and writes and tells its reports. */
#include "train/report.h"

#include "base/clock.h"
#include "base/file.h"
#include "group/group_ops.h"
#include "io/model_core.h"
#include "tape/tape_core.h"
#include "tensor/params.h"
#include "train/folder/log.h"
#include "train/ranks/ranks_work.h"
#include "train/step.h"
#include "train/step_passes.h"

#include <math.h>
#include <stdlib.h>

double report_seconds(const run *r, const run_call *call)
{
    return r->counters.seconds + clock_seconds() - call->started;
}

bool report_stopped_early(const run *r)
{
    uint64_t patience = (uint64_t)r->recipe->train.patience;
    return patience > 0 && r->counters.waited >= patience;
}

/* Whether the last batch of an epoch is one of the step's. */
static bool ends_epoch(const run *r, uint64_t step)
{
    const uint64_t draws = step_draws(r->recipe);
    return step * draws / r->batches_per_epoch > (step - 1) * draws / r->batches_per_epoch;
}

bool report_due(const run *r)
{
    uint64_t every = (uint64_t)r->recipe->train.report_every, step = r->counters.step;
    return step == r->steps || (every ? step % every == 0 : ends_epoch(r, step));
}

bool report_missing(const run *r)
{
    return r->counters.step > 0 && r->counters.tokens > 0 && report_due(r);
}

/* ---- evaluation ------------------------------------------------------------------------------------------------ */

/* The loss of one validation batch, and its rewards. */
typedef struct batch_loss {
    double nll;
    uint64_t tokens;
    reward_sums rewards;
} batch_loss;

/* The means over pairs. */
static rapt_rewards rewards_of(const run *r, const reward_sums *sums, uint64_t pairs)
{
    const double n = r->recipe->data.preferences && pairs > 0 ? (double)pairs : NAN;
    return (rapt_rewards){(double)sums->correct / n, sums->chosen / n, sums->rejected / n};
}

/* The batches of this rank: each ranks-th one. */
static rapt_code validate_own(run *r, batch_loss *own, rapt_error *err)
{
    pass_sums parts;
    train_batch batch;
    for (size_t i = (size_t)r->rank; i < r->validation_batches; i += (size_t)r->ranks) {
        run_phase(r, "validating", i, r->validation_batches);
        rapt_code code = run_stopped(r, err);
        if (!code)
            code = r->task->validation_batch(r, i, &batch, err);
        if (!code)
            code = step_pass(r, &batch, (rapt_pass){0}, 0, &parts, err);
        if (code)
            return code;
        own[i / (size_t)r->ranks] = (batch_loss){parts.loss.nll, parts.loss.tokens, parts.rewards};
        if (r->group && !isfinite(parts.loss.nll)) /* alone, the sum tells, and no other rank knows more */
            return step_not_finite(r, r->counters.step, "validation loss", err);
    }
    return RAPT_OK;
}

/* Gathers the losses of all ranks in `all`: rank i's begin at i * each. */
static rapt_code validate_all(run *r, size_t each, batch_loss *own, batch_loss *all, rapt_error *err)
{
    ranks_begin(r);
    rapt_code code = own ? validate_own(r, own, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a validation");
    code = ranks_end(r, code, err);
    return code || !r->group ? code : group_share(r->group, own, each * sizeof *own, all, err);
}

/* The mean over all tokens, added batch by batch in order, whichever rank has computed them. */
static rapt_code validate(run *r, double *loss, rapt_rewards *rewards, rapt_error *err)
{
    const size_t ranks = (size_t)r->ranks, each = (r->validation_batches + ranks - 1) / ranks;
    batch_loss sum = {0}, *own = calloc(each * (r->group ? ranks + 1 : 1), sizeof *own);
    batch_loss *all = r->group && own ? own + each : own;
    rapt_code code = validate_all(r, each, own, all, err);
    for (size_t i = 0; i < r->validation_batches && !code; i++) {
        const batch_loss *b = &all[i % ranks * each + i / ranks];
        sum.nll += b->nll;
        sum.tokens += b->tokens;
        sum.rewards = reward_sums_add(sum.rewards, b->rewards);
    }
    free(own);
    if (code)
        return code;
    *loss = sum.nll / (double)sum.tokens;
    *rewards = rewards_of(r, &sum.rewards, sum.tokens);
    code = isfinite(*loss) ? RAPT_OK : step_not_finite(r, r->counters.step, "validation loss", err);
    return ranks_agree(r, code, err);
}

/* Validation loss and BLEU; does not change the counters if the run is stopped meanwhile. */
static rapt_code evaluate(run *r, rapt_error *err)
{
    double loss = NAN;
    rapt_rewards rewards = {NAN, NAN, NAN};
    train_scores scores = TRAIN_NO_SCORES;
    rapt_code code = RAPT_OK;
    const bool scores_too = r->recipe->train.eval_bleu && r->task->score;
    params_sync(r->model->params, r->tape->pool);
    if (r->validation_batches > 0)
        code = validate(r, &loss, &rewards, err);
    if (!code && scores_too)
        code = step_params(r, err);
    if (!code && scores_too)
        code = r->task->score(r, &scores, err);
    if (!code) {
        r->counters.val_loss = loss;
        r->counters.scores = scores;
        r->counters.scores.rewards = rewards;
    }
    return code;
}

rapt_code report_validate(run *r, double *loss, rapt_error *err)
{
    *loss = NAN;
    if (r->validation_batches == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "there is no validation set");
    params_sync(r->model->params, r->tape->pool);
    step_exchange_average(r);
    rapt_code code = validate(r, loss, &(rapt_rewards){0}, err);
    step_exchange_average(r);
    return code;
}

static rapt_code write_best(run *r, rapt_error *err)
{
    char *folder;
    rapt_code code = file_path(r->options->out, "best", &folder, err);
    if (!code)
        code = rapt_model_save(r->model, folder, err);
    free(folder);
    return code;
}

/* The score that decides; NaN: there is none, or the loss decides. */
static double score_of(const run *r)
{
    const train_scores *s = &r->counters.scores;
    const rapt_recipe_best_by by = r->recipe->train.best_by;
    return by == RAPT_RECIPE_BEST_BY_BLEU ? s->bleu : by == RAPT_RECIPE_BEST_BY_CHRF ? s->chrf : NAN;
}

/* Whether this model is better than the best one so far. */
static bool is_best(const run *r)
{
    const run_counters *c = &r->counters;
    if (r->recipe->train.best_by == RAPT_RECIPE_BEST_BY_LOSS)
        return c->val_loss < c->best_val_loss;
    return score_of(r) > c->best_score || (isnan(c->best_score) && !isnan(score_of(r)));
}

/* The plateau schedule: train.plateau.patience reports without a better number reduce the learning rate. None counts while the
 * warmup still raises it. */
static void count_stale(run *r, bool best)
{
    run_counters *c = &r->counters;
    if (r->recipe->train.schedule != RAPT_RECIPE_SCHEDULE_PLATEAU || c->step < (uint64_t)r->recipe->train.warmup)
        return;
    c->stale = best ? 0 : c->stale + 1;
    if (c->stale >= (uint64_t)r->recipe->train.plateau.patience)
        c->stale = 0, c->reductions++;
}

static rapt_code keep_best(run *r, rapt_error *err)
{
    run_counters *c = &r->counters;
    const bool best = is_best(r);
    count_stale(r, best);
    if (!best) {
        c->waited++;
        return RAPT_OK;
    }
    c->waited = 0;
    c->best_val_loss = c->val_loss;
    c->best_score = score_of(r);
    c->best_step = c->step;
    run_phase(r, "writing the best model", 0, 0);
    rapt_code code = step_params(r, err);
    return code ? code : ranks_first(r, write_best, err);
}

/* ---- output ---------------------------------------------------------------------------------------------------- */

/* The epoch, counted from 0, in which a step begins. */
static uint64_t epoch_of(const run *r, uint64_t step)
{
    return step ? (step - 1) * step_draws(r->recipe) / r->batches_per_epoch : 0;
}

static double epochs_done(const run *r)
{
    return (double)r->counters.step * (double)step_draws(r->recipe) / (double)r->batches_per_epoch;
}

/* The share of the ranks' seconds since the first step of this call that they have waited. */
static double waited_share(const run *r, const run_call *call)
{
    double seconds = (double)r->ranks * (clock_seconds() - call->waited_since), waited = r->waited_all - call->waited_first;
    if (!r->group || call->waited_since == 0 || seconds <= 0 || waited < 0)
        return NAN;
    return waited < seconds ? waited / seconds : 1;
}

rapt_progress report_progress_of(const run *r, const run_call *call)
{
    const run_counters *c = &r->counters;
    double tokens = c->tokens ? (double)c->tokens : 1, here = clock_seconds() - call->started;
    double training = here - call->pause, done = (double)(c->step - call->first);
    return (rapt_progress){.step = c->step, .steps = call->end, .epoch = epoch_of(r, c->step) + 1,
                           .epochs = epoch_of(r, call->end) + 1, .epochs_done = epochs_done(r), .loss = c->nll / tokens,
                           .step_loss = call->step_loss,
                           .loss_book = r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK ? c->book / tokens : NAN,
                           .val_loss = c->val_loss, .val_bleu = c->scores.bleu, .val_chrf = c->scores.chrf,
                           .val_bleu_book = c->scores.bleu_book, .best_val_loss = c->best_step ? c->best_val_loss : NAN,
                           .best_score = c->best_score, .best_step = c->best_step,
                           .lr = call->lr, .grad_norm = c->grad_norm,
                           .tokens_per_s = training > 0 ? (double)call->tokens / training : 0,
                           .seconds = report_seconds(r, call),
                           .seconds_left = done > 0 ? here / done * (double)(call->end - c->step) : NAN,
                           .ranks = r->ranks, .waited = waited_share(r, call),
                           .rewards = rewards_of(r, &c->rewards, c->tokens), .val_rewards = c->scores.rewards,
                           .early_stopped = report_stopped_early(r), .changed_after = c->changed_after};
}

void report_progress(const run *r, const run_call *call)
{
    rapt_progress p = report_progress_of(r, call);
    if (r->options->on_progress && run_is_first(r))
        r->options->on_progress(r->options->context, &p);
}

/* Writes the log line and calls on_progress; `measured`: the validation loss is of this step. */
static rapt_code write_report(const run *r, const run_call *call, bool partial, bool measured, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    rapt_progress p = report_progress_of(r, call);
    p.report = true;
    if (!measured) {
        p.val_loss = p.val_bleu = p.val_chrf = p.val_bleu_book = NAN;
        p.val_rewards = (rapt_rewards){NAN, NAN, NAN};
    }
    rapt_code code = run_is_first(r) ? log_append(o->out, &p, &r->plan, partial, r->recipe->train.tensorboard, err) : RAPT_OK;
    code = ranks_agree(r, code, err);
    if (!code && o->on_progress && run_is_first(r))
        o->on_progress(o->context, &p);
    return code;
}

rapt_code report_make(run *r, run_call *call, bool partial, rapt_error *err)
{
    double before = clock_seconds();
    step_exchange_average(r);
    rapt_code code = evaluate(r, err);
    bool measured = code == RAPT_OK;
    if (partial && code == RAPT_ERR_INTERRUPTED) {
        *err = (rapt_error){0};
        code = RAPT_OK;
    }
    if (!code && !partial)
        code = keep_best(r, err);
    step_exchange_average(r);
    call->pause += clock_seconds() - before;
    if (!code)
        code = write_report(r, call, partial, measured, err);
    if (!code && !partial)
        r->counters.nll = r->counters.book = 0, r->counters.tokens = 0, r->counters.rewards = (reward_sums){0};
    return code;
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

bool report_sample_due(const run *r)
{
    uint64_t every = (uint64_t)r->recipe->train.sample_every;
    return every > 0 && r->counters.step % every == 0 && r->task->sample && (r->group || r->options->on_sample);
}

static rapt_code tell_sample(run *r, rapt_error *err)
{
    if (!r->options->on_sample)
        return RAPT_OK;
    step_exchange_average(r);
    char *text = r->task->sample(r, err);
    step_exchange_average(r);
    if (text)
        r->options->on_sample(r->options->context, r->counters.step, text);
    rapt_code code = text ? RAPT_OK : err->code;
    free(text);
    return code;
}

rapt_code report_sample(run *r, run_call *call, rapt_error *err)
{
    double before = clock_seconds();
    run_phase(r, "writing a sample", 0, 0);
    rapt_code code = step_params(r, err);
    if (!code)
        code = ranks_first(r, tell_sample, err);
    call->pause += clock_seconds() - before;
    return code;
}
