/* train/train.c: the training loop: steps, reports, validation, checkpoints. Reads like its own description; the
 * set-up is in run.c. */
#include "train/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "ops/tape_core.h"
#include "tensor/params.h"
#include "train/checkpoint/checkpoint_clock.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/first_loss.h"
#include "train/folder/log.h"

#include <math.h>
#include <stdlib.h>

typedef struct loop {
    run *r;
    uint64_t first, end; /* the step before this call, and its last one */
    double started, earlier_seconds;
    checkpoint_clock clock;
    uint64_t saved; /* the step of a checkpoint of this call since which nothing has changed; 0: none */
    bool resumable; /* the folder has a checkpoint */
    uint64_t best_step; /* of the lowest validation loss; 0: none */
    uint64_t tokens_here; /* of this call, for the speed */
    double pause;         /* seconds of this call that went to validation and saving */
    double lr;
} loop;

/* The epoch, from 0, in which a step begins. */
static uint64_t epoch_of(const run *r, uint64_t step)
{
    return step ? (step - 1) * (uint64_t)r->recipe->train.accumulate / r->batches_per_epoch : 0;
}

/* Whether the last batch of an epoch is one of the step's. */
static bool ends_epoch(const run *r, uint64_t step)
{
    uint64_t accumulate = (uint64_t)r->recipe->train.accumulate;
    return step * accumulate / r->batches_per_epoch > (step - 1) * accumulate / r->batches_per_epoch;
}

static double seconds_so_far(const loop *l)
{
    return l->earlier_seconds + clock_seconds() - l->started;
}

static rapt_code not_finite(run *r, uint64_t step, const char *what, rapt_error *err)
{
    char result[128];
    const char *name = rapt_first_not_finite(r->tape, r->model->params, true);
    if (!name)
        name = tape_first_not_finite(r->tape, result, sizeof result) ? result : "the loss itself";
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_NOT_FINITE, "step %llu: the %s is not finite; the first bad tensor is %s%s",
                     (unsigned long long)step, what, name,
                     checkpoint_list_any(r->options->out) ? " (the last good checkpoint is kept)" : "");
}

static double clip_scale(const run *r, double norm)
{
    double limit = r->recipe->train.clip;
    return limit > 0 && norm > limit ? limit / norm : 1;
}

static void count(loop *l, const train_batch *batch, const rapt_loss_sums *parts)
{
    checkpoint_state *s = &l->r->state;
    s->nll += parts->nll;
    s->book += parts->nll / (double)batch->labels.time;
    s->tokens += parts->tokens;
    l->tokens_here += parts->tokens;
}

/* Forgets a step of which some batches are done. */
static rapt_code train_take_back(loop *l, const checkpoint_state *before)
{
    l->tokens_here -= l->r->state.tokens - before->tokens;
    l->r->state = *before;
    rapt_params_zero_grad(l->r->model->params);
    return RAPT_ERR_INTERRUPTED;
}

/* The passes of a step; *scale is what their gradients have to be multiplied by, so that each token weighs the same
 * whatever batch it is in. RAPT_ERR_INTERRUPTED: none of them counts. */
static rapt_code gather_gradients(loop *l, uint64_t step, double *scale, rapt_error *err)
{
    run *r = l->r;
    uint64_t batches = (uint64_t)r->recipe->train.accumulate;
    size_t tokens = 0;
    const checkpoint_state before = r->state;
    for (uint64_t i = 0; i < batches; i++) {
        if (i > 0 && run_stopped(r, err)) /* the step is not made */
            return train_take_back(l, &before);
        train_batch batch;
        rapt_loss_sums parts;
        uint64_t index = (step - 1) * batches + i;
        if (!r->task->batch(r, index, &batch))
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a batch");
        rapt_pass pass = {.record = true, .training = true, .step = batches > 1 ? index + 1 : step};
        rapt_code code = run_pass(r, &batch, pass, run_normalizer(r->recipe), &parts, err);
        if (code)
            return code == RAPT_ERR_NOT_FINITE ? not_finite(r, step, "loss", err) : code;
        count(l, &batch, &parts);
        tokens += parts.tokens;
    }
    *scale = batches > 1 && tokens > 0 ? 1 / (double)tokens : 1;
    return RAPT_OK;
}

static rapt_code step_once(loop *l, rapt_error *err)
{
    run *r = l->r;
    uint64_t step = r->state.step + 1;
    double scale = 1;
    rapt_code code = gather_gradients(l, step, &scale, err);
    if (code)
        return code;
    if (step == 1)
        first_loss_check(r);
    r->state.grad_norm = scale * rapt_grad_norm(r->tape, r->model->params);
    if (!isfinite(r->state.grad_norm))
        return not_finite(r, step, "gradient", err);
    l->lr = rapt_learning_rate(r->recipe, step, r->steps);
    code = rapt_adam_step(r->adam, r->tape, l->lr, scale * clip_scale(r, r->state.grad_norm), err);
    rapt_params_zero_grad(r->model->params);
    r->state.step = step;
    return code;
}

static rapt_code validate(run *r, double *loss, rapt_error *err)
{
    rapt_loss_sums sum = {0}, parts;
    train_batch batch;
    for (size_t i = 0; i < r->held_out_batches; i++) {
        run_phase(r, "validating", i, r->held_out_batches);
        if (run_stopped(r, err))
            return RAPT_ERR_INTERRUPTED;
        if (!r->task->held_out(r, i, &batch))
            return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a batch");
        rapt_code code = run_pass(r, &batch, (rapt_pass){0}, 0, &parts, err);
        if (code)
            return code;
        sum.nll += parts.nll;
        sum.tokens += parts.tokens;
    }
    *loss = sum.nll / (double)sum.tokens;
    return isfinite(*loss) ? RAPT_OK : not_finite(r, r->state.step, "validation loss", err);
}

/* All that a report measures, or, where the run is stopped meanwhile, nothing. */
static rapt_code train_evaluate(run *r, rapt_error *err)
{
    double loss = NAN, bleu = NAN;
    rapt_code code = RAPT_OK;
    params_sync(r->model->params, r->tape->pool);
    if (r->held_out_batches > 0)
        code = validate(r, &loss, err);
    if (!code && r->recipe->train.eval_bleu && r->task->score)
        code = r->task->score(r, &bleu, err);
    if (!code) {
        r->state.val_loss = loss;
        r->val_bleu = bleu;
    }
    return code;
}

/* Whether the validation loss has not fallen for as long as the recipe waits. */
static bool early_stopped(const run *r)
{
    uint64_t patience = (uint64_t)r->recipe->train.patience;
    return patience > 0 && r->state.waited >= patience;
}

static rapt_progress progress_of(const loop *l)
{
    const run *r = l->r;
    const checkpoint_state *s = &r->state;
    double tokens = s->tokens ? (double)s->tokens : 1, here = clock_seconds() - l->started;
    double training = here - l->pause, done = (double)(s->step - l->first);
    rapt_progress p = {.step = s->step, .steps = l->end, .epoch = epoch_of(r, s->step) + 1,
                       .epochs = epoch_of(r, l->end) + 1, .loss = s->nll / tokens,
                       .loss_book = r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK ? s->book / tokens : NAN,
                       .val_loss = s->val_loss, .val_bleu = r->val_bleu,
                       .best_val_loss = l->best_step ? s->best_val_loss : NAN, .best_step = l->best_step,
                       .lr = l->lr, .grad_norm = s->grad_norm,
                       .tokens_per_s = training > 0 ? (double)l->tokens_here / training : 0,
                       .seconds = seconds_so_far(l),
                       .seconds_left = done > 0 ? here / done * (double)(l->end - s->step) : NAN,
                       .early_stopped = early_stopped(r)};
    return p;
}

static bool due(const run *r, uint64_t every)
{
    return every ? r->state.step % every == 0 : ends_epoch(r, r->state.step);
}

/* The model first: a checkpoint without its model would be harder to explain than the reverse. */
static rapt_code save_checkpoint(loop *l, rapt_error *err)
{
    run *r = l->r;
    checkpoint_state saved = r->state;
    saved.seconds = seconds_so_far(l);
    double before = clock_seconds();
    checkpoint_plan plan = {(size_t)r->recipe->train.keep, (uint64_t)r->recipe->train.checkpoint_every};
    run_phase(r, "writing a checkpoint", 0, 0);
    params_sync(r->model->params, r->tape->pool);
    rapt_code code = rapt_model_save_params(r->model, r->options->out, err);
    if (!code)
        code = checkpoint_save(r->options->out, r->model, r->adam, &saved, plan, err);
    double now = clock_seconds();
    checkpoint_clock_written(&l->clock, before, now);
    l->pause += now - before;
    l->saved = r->state.step;
    l->resumable = l->resumable || !code;
    return code;
}

static rapt_code save_best(const run *r, rapt_error *err)
{
    char *folder = file_join(r->options->out, "best");
    rapt_code code = folder ? rapt_model_save(r->model, folder, err) : rapt_fail(err, RAPT_ERR_MEMORY, "no memory to save");
    free(folder);
    return code;
}

static rapt_code keep_best(loop *l, rapt_error *err)
{
    run *r = l->r;
    if (isnan(r->state.val_loss) || r->state.val_loss >= r->state.best_val_loss) {
        r->state.waited++;
        return RAPT_OK;
    }
    r->state.waited = 0;
    r->state.best_val_loss = r->state.val_loss;
    l->best_step = r->state.step;
    run_phase(r, "writing the best model", 0, 0);
    return save_best(r, err);
}

/* Logs and tells where the run stands; `measured`: the validation loss is of this step. */
static rapt_code tell_report(loop *l, bool partial, bool measured, rapt_error *err)
{
    const rapt_train_options *o = l->r->options;
    rapt_progress p = progress_of(l);
    p.report = true;
    if (!measured)
        p.val_loss = p.val_bleu = NAN;
    rapt_code code = log_append(o->out, &p, partial, err);
    if (!code && o->on_progress)
        o->on_progress(o->context, &p);
    return code;
}

/* RAPT_ERR_INTERRUPTED: it is not made, and its sums stay; the next call makes it. A partial one, of a call that ends between
 * reports, is made in any case: without a validation loss, where there is no time for one. */
static rapt_code train_report(loop *l, bool partial, rapt_error *err)
{
    run *r = l->r;
    double before = clock_seconds();
    rapt_code code = train_evaluate(r, err);
    bool measured = code == RAPT_OK;
    if (partial && code == RAPT_ERR_INTERRUPTED) {
        *err = (rapt_error){0};
        code = RAPT_OK;
    }
    if (!code && !partial)
        code = keep_best(l, err);
    l->pause += clock_seconds() - before;
    if (!code)
        code = tell_report(l, partial, measured, err);
    if (!code && !partial) {
        r->state.nll = r->state.book = 0, r->state.tokens = 0;
        l->saved = 0;
    }
    return code;
}

static bool report_due(const run *r)
{
    return due(r, (uint64_t)r->recipe->train.report_every) || r->state.step == r->steps;
}

/* Whether the last step's report is still to be made, as the run was stopped in the middle of it. */
static bool report_missing(const run *r)
{
    return r->state.step > 0 && r->state.tokens > 0 && report_due(r);
}

static bool checkpoint_due(const loop *l)
{
    uint64_t every = (uint64_t)l->r->recipe->train.checkpoint_every, step = l->r->state.step;
    if (step == l->end)
        return false;
    return every ? step % every == 0 : checkpoint_clock_due(&l->clock, clock_seconds());
}

static bool sample_due(const run *r)
{
    uint64_t every = (uint64_t)r->recipe->train.sample_every;
    return every > 0 && r->state.step % every == 0 && r->task->sample && r->options->on_sample;
}

static rapt_code train_sample(loop *l, rapt_error *err)
{
    run *r = l->r;
    double before = clock_seconds();
    run_phase(r, "writing a sample", 0, 0);
    params_sync(r->model->params, r->tape->pool);
    char *text = r->task->sample(r, err);
    if (text)
        r->options->on_sample(r->options->context, r->state.step, text);
    rapt_code code = text ? RAPT_OK : err->code;
    free(text);
    l->pause += clock_seconds() - before;
    return code;
}

/* What follows a step: a progress line, now and then a report, a sample and a checkpoint. */
static rapt_code after_step(loop *l, rapt_error *err)
{
    run *r = l->r;
    rapt_code code = RAPT_OK;
    bool reports = report_due(r);
    if (reports && !l->resumable) /* or a kill after the report would leave a run that cannot be resumed */
        code = save_checkpoint(l, err);
    if (!code && reports)
        code = train_report(l, false, err);
    else if (!code && r->options->on_progress) {
        rapt_progress p = progress_of(l);
        r->options->on_progress(r->options->context, &p);
    }
    if (!code && sample_due(r))
        code = train_sample(l, err);
    return !code && checkpoint_due(l) ? save_checkpoint(l, err) : code;
}

static rapt_code run_steps(loop *l, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (early_stopped(l->r) && l->r->options->on_progress) {
        rapt_progress p = progress_of(l);
        l->r->options->on_progress(l->r->options->context, &p);
    } else if (report_missing(l->r))
        code = after_step(l, err);
    while (!code && l->r->state.step < l->end && !run_stop_asked(l->r) && !early_stopped(l->r)) {
        code = step_once(l, err);
        if (!code)
            code = after_step(l, err);
    }
    if (code != RAPT_ERR_INTERRUPTED)
        return code;
    *err = (rapt_error){0}; /* what was asked for, and not a failure */
    return RAPT_OK;
}

/* From the step that the set-up found; a resumed run may be past the last one that was asked for. */
static loop train_begin(run *r)
{
    uint64_t limit = r->options->max_steps, end = limit && limit < r->steps ? limit : r->steps, step = r->state.step;
    double now = clock_seconds();
    return (loop){.r = r, .first = step, .end = end > step ? end : step, .started = now, .earlier_seconds = r->state.seconds,
                  .clock = {.last = now}, .best_step = step ? log_best_step(r->options->out) : 0,
                  .resumable = r->newest > 0,
                  .lr = step ? rapt_learning_rate(r->recipe, step, r->steps) : 0};
}

/* The end of this call: a stopped run leaves a partial line in its log, and every run that made a step a checkpoint. */
static rapt_code train_finish(loop *l, rapt_error *err)
{
    run *r = l->r;
    rapt_code code = r->state.step > l->saved ? save_checkpoint(l, err) : RAPT_OK;
    if (!code && r->state.tokens > 0)
        code = train_report(l, true, err);
    if (!code && run_stop_asked(r) && (r->state.step < l->end || report_missing(r)) && !early_stopped(r))
        code = rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped after step %llu of %llu; to resume: rapt train --resume --out %s",
                         (unsigned long long)r->state.step, (unsigned long long)l->end, r->options->out);
    return code;
}

rapt_code rapt_train(const rapt_train_options *options, rapt_error *err)
{
    run r;
    rapt_error own = {0};
    err = err ? err : &own;
    rapt_code code = run_set_up(&r, options, err);
    if (!code) {
        loop l = train_begin(&r);
        code = run_steps(&l, err);
        if (!code)
            code = train_finish(&l, err);
    }
    run_free(&r);
    return code ? err->code : RAPT_OK;
}
