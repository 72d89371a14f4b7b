/* train/step.c: a training step: passes over its batches, the norm of their gradients, the optimizer. */
#include "train/step.h"

#include "group/group_ops.h"
#include "io/model_core.h"
#include "tape/tape_core.h"
#include "tensor/params.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/optimizer/grad_release.h"
#include "train/optimizer/moving_average.h"
#include "train/optimizer/schedule.h"
#include "train/ranks/ranks_work.h"
#include "train/shards/shard_batches.h"
#include "train/shards/step_ranks.h"
#include "train/shards/step_shards.h"
#include "train/step_passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double step_rate(const run *r, uint64_t step)
{
    return schedule_rate(r->recipe, step, r->steps, r->counters.reductions);
}

double step_normalizer(const rapt_recipe *recipe)
{
    return step_passes(recipe) == 1 ? 0 : 1;
}

rapt_code step_pass(const run *r, const train_batch *batch, rapt_pass pass, double normalizer, pass_sums *sums, rapt_error *err)
{
    bool book = r->recipe->train.reduction == RAPT_RECIPE_REDUCTION_BOOK;
    pass.examples = batch->examples;
    pass.seed = (uint64_t)r->recipe->seed;
    pass.recompute = r->recipe->train.recompute;
    rapt_tape_begin(r->tape, pass);
    rapt_loss_options o = {.label_smoothing = pass.training ? r->recipe->train.label_smoothing : 0,
                           .valid_lens = batch->valid_lens,
                           .normalizer = book ? (double)batch->labels.time : normalizer};
    rapt_tensor *loss = r->task->loss(r, batch, &o, sums);
    rapt_code code = r->shards && r->shards->ranks ? step_ranks_arrived(r->shards->ranks, err) : RAPT_OK;
    if (code)
        return code;
    return pass.record ? rapt_backward(r->tape, loss, err) : rapt_tape_status(r->tape, err);
}

rapt_code step_params(const run *r, rapt_error *err)
{
    rapt_code code = step_ranks_whole(r, err);
    if (!code)
        params_sync(r->model->params, r->tape->pool);
    return code;
}

void step_exchange_average(const run *r)
{
    if (r->average)
        moving_average_exchange(r->average, r->tape);
}

/* Follows a step of the optimizer. Every process has all averages. */
static rapt_code step_average(const run *r, rapt_error *err)
{
    rapt_code code = r->average ? step_params(r, err) : RAPT_OK;
    if (!code && r->average)
        moving_average_update(r->average, r->tape, r->counters.step);
    return code;
}

/* In a group a process has only parts of a step's gradient, but sums over all of it. */
static const char *first_bad_gradient(const run *r)
{
    const char *name = rapt_first_not_finite(r->tape, r->model->params, !r->group);
    return name || !r->group ? name : step_ranks_not_finite(r->shards->ranks);
}

rapt_code step_not_finite(const run *r, uint64_t step, const char *what, rapt_error *err)
{
    char result[128];
    const bool gradient = strcmp(what, "gradient") == 0, kept = r->group ? r->resumable : checkpoint_list_any(r->options->out);
    const char *name = gradient ? first_bad_gradient(r) : rapt_first_not_finite(r->tape, r->model->params, true);
    if (!name)
        name = tape_first_not_finite(r->tape, result, sizeof result) ? result : "the loss itself";
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_NOT_FINITE, "step %llu: the %s is not finite; the first bad tensor is %s%s",
                     (unsigned long long)step, what, name,
                     kept ? " (the last good checkpoint is kept)" : "");
}

static batch_sums sums_of(const train_batch *batch, const pass_sums *sums)
{
    return (batch_sums){sums->loss.nll, sums->loss.nll / (double)batch->labels.time, sums->loss.tokens, batch->tokens,
                        sums->rewards};
}

/* Pass i of a step, forward and backward, which adds to the gradients. */
static rapt_code batch_passes(run *r, uint64_t step, uint64_t i, batch_sums *sums, rapt_error *err)
{
    train_batch batch;
    pass_sums parts;
    const uint64_t draws = step_draws(r->recipe), cuts = step_passes(r->recipe) / draws, index = (step - 1) * draws + i / cuts;
    rapt_pass pass = {.record = true, .training = true, .step = index + 1}; /* the parts of a batch differ in their examples */
    rapt_code code = r->task->batch(r, index, &batch, err);
    if (!code && cuts > 1)
        step_part(&batch, i % cuts, cuts);
    if (!code)
        code = step_pass(r, &batch, pass, step_normalizer(r->recipe), &parts, err);
    if (code)
        return code == RAPT_ERR_NOT_FINITE ? step_not_finite(r, step, "loss", err) : code;
    *sums = sums_of(&batch, &parts);
    return RAPT_OK;
}

/* After batch i: the gradients of a shard are complete with its last one. */
static rapt_code end_batch(run *r, uint64_t i, uint32_t *shard, rapt_error *err)
{
    if (!r->shards || i + 1 < shard_batches_first(r, *shard + 1))
        return RAPT_OK;
    ++*shard;
    return shard_sums_add(r->shards->sums, r->tape, err);
}

/* Adds batch by batch, in order, because sums are part of the number format. */
static void add_batch_sums(run *r, const batch_sums *sums, uint64_t *tokens)
{
    run_counters *c = &r->counters;
    c->nll += sums->nll;
    c->book += sums->book;
    c->tokens += sums->tokens;
    c->rewards = reward_sums_add(c->rewards, sums->rewards);
    r->labels += sums->labels;
    *tokens += sums->tokens;
}

/* The factor of gradients that gives each token the same weight, whatever batch it is in. */
static double weight_of(const run *r, uint64_t tokens)
{
    return step_passes(r->recipe) > 1 && tokens > 0 ? 1 / (double)tokens : 1;
}

/* Gradient accumulation: the passes of a step, and its gradient, to be multiplied by *scale. */
static rapt_code accumulate_gradients(run *r, uint64_t step, double *scale, rapt_error *err)
{
    uint64_t passes = step_passes(r->recipe), tokens = 0;
    uint32_t shard = 0;
    if (r->shards)
        shard_sums_restart(r->shards->sums);
    for (uint64_t i = 0; i < passes; i++) {
        batch_sums sums = {0};
        rapt_code code = i > 0 ? run_stopped(r, err) : RAPT_OK;
        if (!code)
            code = batch_passes(r, step, i, &sums, err);
        if (!code)
            code = end_batch(r, i, &shard, err);
        if (code)
            return code;
        add_batch_sums(r, &sums, &tokens);
    }
    if (r->shards)
        step_shards_finish(r->shards);
    *scale = weight_of(r, tokens);
    return RAPT_OK;
}

/* The passes of a process' own shards. They are not stopped, since all processes stop after the same step, unless the group has
 * failed: the step cannot be made then, and a step may take minutes. */
static rapt_code own_passes(run *r, uint64_t step, rapt_error *err)
{
    uint32_t shard = r->shards->own.first;
    batch_sums *sums = step_share_batches(&r->shards->ranks->share);
    rapt_code code = RAPT_OK;
    shard_sums_restart(r->shards->sums);
    const uint64_t end = shard_batches_first(r, r->shards->own.end);
    for (uint64_t i = shard_batches_first(r, shard); !code && i < end; i++) {
        code = ranks_lost(r, err);
        if (code)
            break;
        if (i + 1 == end)
            step_ranks_begin_last(r->shards->ranks);
        code = batch_passes(r, step, i, sums++, err);
        if (i + 1 == end)
            step_ranks_end_last(r->shards->ranks, code != RAPT_OK);
        if (!code)
            code = end_batch(r, i, &shard, err);
    }
    return code;
}

/* accumulate_gradients for all processes of a group together. */
static rapt_code share_gradients(run *r, uint64_t step, double *scale, rapt_error *err)
{
    uint64_t tokens = 0;
    step_ranks *ranks = r->shards->ranks;
    rapt_code code = step_ranks_add(ranks, own_passes(r, step, err), err);
    for (uint64_t i = 0; !code && i < step_passes(r->recipe); i++) {
        batch_sums sums = step_share_batch(&ranks->share, r, i);
        add_batch_sums(r, &sums, &tokens);
    }
    *scale = weight_of(r, tokens);
    return code;
}

static rapt_code step_norm(run *r, double *norm, rapt_error *err)
{
    if (r->group)
        return step_ranks_norm(r->shards->ranks, norm, err);
    *norm = rapt_grad_norm(r->tape, r->model->params);
    return RAPT_OK;
}

/* For messages about processes that do not answer. */
static void tell_step(const run *r, uint64_t step)
{
    char text[32];
    snprintf(text, sizeof text, "step %llu", (unsigned long long)step);
    if (r->group)
        group_doing(r->group, text);
}

#define ABOVE 0.1     /* of ln V */
#define MIN_ABOVE 0.7 /* nats: logits of a variance of 1 cost half a nat in any vocabulary, more than 0.1 ln V in a small one */

/* After the passes of the first step, warns of a loss far above ln V, where V is the target vocabulary size: a model that knows
 * nothing has ln V, and training must first undo such an initialization. Does not warn if the run starts from another model,
 * because its data may be of any kind. */
static void first_loss_check(const run *r)
{
    const rapt_model *m = r->model;
    bool translation = m->task == RAPT_TASK_TRANSLATION;
    const size_t entries = translation ? m->translation.net->config.target_vocab : m->language.net->config.vocab;
    const double loss = r->counters.nll / (double)r->counters.tokens, even = log((double)entries);
    if (r->init || !(loss > even + fmax(ABOVE * even, MIN_ABOVE)))
        return;
    run_warn(r, "the first loss is %.2f; a model that guesses evenly has %.2f, ln %zu: the initial values are too large "
             "(model.embedding_std is %g; 0 leaves it to rapt)", loss, even, entries, r->recipe->model.embedding_std);
}

/* ---- gradients that are released ------------------------------------------------------------------------------- */

static rapt_code not_finite_released(const run *r, uint64_t step, const char *what, const char *name, rapt_error *err)
{
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_NOT_FINITE, "step %llu: the %s is not finite; the first bad tensor is %s%s",
                     (unsigned long long)step, what, name,
                     checkpoint_list_any(r->options->out) ? " (the last good checkpoint is kept)" : "");
}

/* A forward and a backward pass over the batch of a step, which also makes the optimizer's step. adam NULL: it only computes the
 * norm. */
static rapt_code released_pass(run *r, uint64_t step, const train_batch *batch, rapt_adam *adam, double lr, double scale,
                               batch_sums *sums, double *norm, rapt_error *err)
{
    pass_sums parts;
    const rapt_pass pass = {.record = true, .training = true, .step = step};
    grad_release_begin(r->release, adam, lr, scale);
    rapt_code code = step_pass(r, batch, pass, step_normalizer(r->recipe), &parts, err);
    code = grad_release_end(r->release, code, norm, err);
    const char *bad = grad_release_bad(r->release);
    if (code == RAPT_ERR_NOT_FINITE)
        return bad ? not_finite_released(r, step, "gradient", bad, err) : step_not_finite(r, step, "loss", err);
    if (!code && !isfinite(*norm))
        return not_finite_released(r, step, "gradient", "the norm of all of them", err);
    if (code)
        return code;
    *sums = sums_of(batch, &parts);
    return RAPT_OK;
}

/* train_step with train.release_gradients. Clipping needs the norm of all gradients before the first of them is used, so the
 * passes are made twice. */
static rapt_code released_step(run *r, double *lr, rapt_error *err)
{
    const uint64_t step = r->counters.step + 1;
    const double clip = r->recipe->train.clip;
    train_batch batch;
    batch_sums sums = {0};
    double norm = 0, scale = 1, same;
    uint64_t tokens = 0;
    *lr = step_rate(r, step);
    rapt_code code = r->task->batch(r, step - 1, &batch, err);
    if (!code)
        code = released_pass(r, step, &batch, clip > 0 ? NULL : r->adam, *lr, scale, &sums, &norm, err);
    if (!code && clip > 0) {
        scale = norm > clip ? clip / norm : 1;
        code = released_pass(r, step, &batch, r->adam, *lr, scale, &sums, &same, err);
    }
    if (code)
        return code;
    add_batch_sums(r, &sums, &tokens);
    if (step == 1)
        first_loss_check(r);
    r->counters.grad_norm = norm;
    r->counters.step = step;
    return step_average(r, err);
}

rapt_code train_step(run *r, double *lr, rapt_error *err)
{
    const run_counters before = r->counters;
    uint64_t step = before.step + 1;
    double scale = 1;
    if (r->release)
        return released_step(r, lr, err);
    tell_step(r, step);

    /* 1. Passes. On failure the step is not made. */
    rapt_code code = r->group ? share_gradients(r, step, &scale, err) : accumulate_gradients(r, step, &scale, err);
    if (code) {
        r->counters = before;
        rapt_params_zero_grad(r->model->params);
        return code;
    }
    if (step == 1)
        first_loss_check(r);

    /* 2. The global norm of the gradients, and clipping. */
    double norm;
    code = step_norm(r, &norm, err);
    if (code)
        return code;
    norm = r->counters.grad_norm = scale * norm;
    if (!isfinite(norm))
        return ranks_agree(r, step_not_finite(r, step, "gradient", err), err);
    double clip = r->recipe->train.clip;
    if (clip > 0 && norm > clip)
        scale *= clip / norm;

    /* 3. The optimizer. */
    *lr = step_rate(r, step);
    code = r->group ? step_ranks_update(r->shards->ranks, *lr, scale, err) : rapt_adam_step(r->adam, r->tape, *lr, scale, err);
    rapt_params_zero_grad(r->model->params);
    r->counters.step = step;
    return code ? code : step_average(r, err);
}
