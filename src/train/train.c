/* train/train.c: a training run from beginning to end: open, check, prepare, loop, finish. Each stage has its own file; this file
 * has their order, and the handling of failures and stops. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/file.h"
#include "tape/tape_core.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/checkpoint_clock.h"
#include "train/folder/folder_check.h"
#include "train/folder/folder_write.h"
#include "train/folder/lengthen.h"
#include "train/folder/resume.h"
#include "train/ranks/handshake.h"
#include "train/ranks/ranks_plan.h"
#include "train/ranks/ranks_work.h"
#include "train/ranks/run_moments.h"
#include "train/report.h"
#include "train/run_memory.h"
#include "train/set_up.h"
#include "train/step.h"

#include <stdlib.h>
#include <string.h>

/* ---- open, check, prepare ------------------------------------------------------------------------------------- */

static rapt_code take_folder(run *r, rapt_error *err)
{
    return folder_lock_take(&r->lock, r->options->out, err);
}

/* Only rank 0 sees the folder. */
static rapt_code give_newest(run *r, rapt_error *err)
{
    return ranks_give(r, &r->newest, sizeof r->newest, err);
}

/* Whether a message names a path, or one of several with : between them. */
static bool names_path(const char *message, const char *list)
{
    bool found = false;
    for (size_t size; *list && !found; list += size + (list[size] == ':')) {
        size = strcspn(list, ":");
        found = size > 0 && memmem(message, strlen(message), list, size);
    }
    return found;
}

/* A folder's recipe has the paths of the machine on which the run began; names the key to set if data are elsewhere now. */
static void name_moved_key(const run *r, rapt_error *err)
{
    const rapt_recipe *k = r->options->recipe;
    const struct {
        const char *key, *value;
    } paths[] = {{"data.pairs", k->data.pairs}, {"data.validation", k->data.validation}, {"data.text", k->data.text},
                 {"tokenizer.path", k->tokenizer.path}};
    const rapt_error why = *err;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i].value && names_path(why.message, paths[i].value)) {
            *err = (rapt_error){0};
            rapt_fail(err, why.code, "%.400s; if it is elsewhere now: --set %s=PATH", why.message, paths[i].key);
            return;
        }
}

static rapt_code open_data(run *r, rapt_error *err)
{
    run_phase(r, "reading the data", 0, 0);
    rapt_code code = r->task->open(r, err);
    if (code == RAPT_ERR_NOT_FOUND && r->options->resume)
        name_moved_key(r, err);
    return code;
}

static rapt_code give_data(run *r, rapt_error *err)
{
    return r->group && r->task->share ? r->task->share(r, err) : RAPT_OK;
}

static rapt_code load_data(run *r, rapt_error *err)
{
    return r->task->load(r, err);
}

static rapt_code begin_folder(run *r, rapt_error *err)
{
    rapt_code code = resume_rewind_log(r, err);
    return code ? code : folder_write(r, err);
}

typedef struct set_up_stage {
    rapt_code (*run)(run *r, ranks_task *work, rapt_error *err); /* which ranks do the work */
    ranks_task *work;
} set_up_stage;

/* For work of all ranks together, which communicates by itself and fails on all alike. */
static rapt_code ranks_together(run *r, ranks_task *work, rapt_error *err)
{
    return work(r, err);
}

static rapt_code run_stages(run *r, const set_up_stage *stages, size_t count, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++) {
        code = run_stopped(r, err);
        code = code ? code : stages[i].run(r, stages[i].work, err);
    }
    return code;
}

rapt_code run_set_up(run *r, const rapt_train_options *options, rapt_error *err)
{
    static const set_up_stage stages[] = {
        {ranks_together, handshake_recipe},  /* open: all ranks must train the same, */
        {ranks_first, take_folder},          /* nobody else writes into the folder from here on, */
        {ranks_first, folder_check},         /* nothing in it would be lost, */
        {ranks_together, give_newest},
        {ranks_each, open_data},             /* data and tokenizers, or the model to start from, are read, */
        {ranks_first, folder_check_files},
        {ranks_together, give_data},
        {ranks_each, load_data},             /* and the data sets made, */
        {ranks_together, handshake_data},    /* on the same data; */
        {ranks_each, set_up_tape},
        {ranks_each, set_up_shapes},         /* check: the model as the recipe says, */
        {ranks_each, memory_check},          /* and the memory that the run will take, before it is taken; */
        {ranks_together, ranks_tell_plan},
        {ranks_each, set_up_parameters},     /* prepare: the model, */
        {ranks_together, handshake_numbers}, /* with the same elements, */
        {ranks_each, set_up_optimizer},
        {ranks_first, folder_write_prepare},
        {ranks_together, resume_begin},      /* the newest checkpoint, */
        {ranks_first, lengthen_check},       /* which may be of a run of another length. */
        {ranks_first, begin_folder}};        /* Up to here the folder is as it was. */
    *r = (run){.options = options, .recipe = options->recipe,
               .init = options->init ? options->init : options->recipe->train.init};
    r->task = r->recipe->task == RAPT_TASK_TRANSLATION ? &train_translation : &train_language_model;
    rapt_code code = ranks_join(r, options->group, err);
    code = code ? code : run_stages(r, stages, sizeof stages / sizeof *stages, err);
    if (code != RAPT_ERR_INTERRUPTED)
        return code;
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped before %s step; the folder is as it was",
                     r->newest ? "another" : "the first");
}

/* ---- loop ----------------------------------------------------------------------------------------------------- */

typedef struct loop {
    run *r;
    run_call call;
    checkpoint_clock clock;
    bool changed;   /* this call has made a step or a report, */
    bool saved;     /* and the folder's model and checkpoint have it all */
} loop;

/* From the step that the set-up found; a resumed run may be past the last one that was asked for. */
static loop loop_begin(run *r)
{
    uint64_t limit = r->options->max_steps, end = limit && limit < r->steps ? limit : r->steps, step = r->counters.step;
    double now = clock_seconds();
    r->resumable = r->newest > 0;
    end = end > step && !r->options->untrained ? end : step;
    return (loop){.r = r, .call = {.first = step, .end = end, .started = now,
                                   .lr = step ? rapt_learning_rate(r->recipe, step, r->steps) : 0},
                  .clock = {.last = now}};
}

static rapt_code save_params(run *r, rapt_error *err)
{
    return rapt_model_save_params(r->model, r->options->out, err);
}

/* Saves the model first, because a checkpoint without its model would be harder to explain than the reverse. The first time it is
 * the other way round: a run that is killed in between would leave a trained model that could be neither resumed nor replaced. */
static rapt_code save_model_and_checkpoint(run *r, const moments *m, const checkpoint_state *s, rapt_error *err)
{
    const checkpoint_plan plan = {(size_t)r->recipe->train.keep, (uint64_t)r->recipe->train.checkpoint_every};
    rapt_code code = r->resumable ? ranks_first(r, save_params, err) : RAPT_OK;
    if (!code)
        code = checkpoint_save(r->options->out, r->model, m, s, plan, err);
    return code || r->resumable ? code : ranks_first(r, save_params, err);
}

static rapt_code save_checkpoint(loop *l, rapt_error *err)
{
    run *r = l->r;
    const run_counters *c = &r->counters;
    checkpoint_state s = {.step = c->step, .recipe_hash = r->recipe_hash, .nll = c->nll, .book = c->book, .tokens = c->tokens,
                          .grad_norm = c->grad_norm, .best_val_loss = c->best_val_loss, .val_loss = c->val_loss,
                          .seconds = report_seconds(r, &l->call), .waited = c->waited};
    const moments m = run_moments(r);
    double before = clock_seconds();
    run_phase(r, "writing a checkpoint", 0, 0);
    rapt_code code = step_params(r, err);
    if (!code)
        code = handshake_same_parameters(r, err);
    if (!code)
        code = save_model_and_checkpoint(r, &m, &s, err);
    double now = clock_seconds();
    checkpoint_clock_written(&l->clock, before, now);
    l->call.pause += now - before;
    l->saved = !code;
    r->resumable = r->resumable || !code;
    return code;
}

/* With a group, only rank 0's clock counts; train_step tells the others. */
static bool checkpoint_due(const loop *l)
{
    uint64_t every = (uint64_t)l->r->recipe->train.checkpoint_every, step = l->r->counters.step;
    if (step == l->call.end)
        return false;
    if (every)
        return step % every == 0;
    return l->r->group ? l->r->checkpoint_agreed : checkpoint_clock_due(&l->clock, clock_seconds());
}

static rapt_code train_report(loop *l, bool partial, rapt_error *err)
{
    rapt_code code = report_make(l->r, &l->call, partial, err);
    if (!partial && code != RAPT_ERR_INTERRUPTED)
        l->changed = true, l->saved = false; /* its counters start again */
    return code;
}

static bool sample_due(const run *r)
{
    uint64_t every = (uint64_t)r->recipe->train.sample_every;
    return every > 0 && r->counters.step % every == 0 && r->task->sample && (r->group || r->options->on_sample);
}

static rapt_code tell_sample(run *r, rapt_error *err)
{
    if (!r->options->on_sample)
        return RAPT_OK;
    char *text = r->task->sample(r, err);
    if (text)
        r->options->on_sample(r->options->context, r->counters.step, text);
    rapt_code code = text ? RAPT_OK : err->code;
    free(text);
    return code;
}

static rapt_code train_sample(loop *l, rapt_error *err)
{
    run *r = l->r;
    double before = clock_seconds();
    run_phase(r, "writing a sample", 0, 0);
    rapt_code code = step_params(r, err);
    if (!code)
        code = ranks_first(r, tell_sample, err);
    l->call.pause += clock_seconds() - before;
    return code;
}

/* After a step: progress, and if they are due, a report, a sample and a checkpoint. */
static rapt_code after_step(loop *l, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool reports = report_due(l->r);
    if (reports && !l->r->resumable) /* or a kill after the report would leave a run that cannot be resumed */
        code = save_checkpoint(l, err);
    if (!code && reports)
        code = train_report(l, false, err);
    else if (!code)
        report_progress(l->r, &l->call);
    if (!code && sample_due(l->r))
        code = train_sample(l, err);
    return !code && checkpoint_due(l) ? save_checkpoint(l, err) : code;
}

static rapt_code step_once(loop *l, rapt_error *err)
{
    run_counters *c = &l->r->counters;
    uint64_t tokens = c->tokens;
    l->r->checkpoint_wanted = checkpoint_clock_due(&l->clock, clock_seconds());
    rapt_code code = train_step(l->r, &l->call.lr, err);
    l->call.tokens += c->tokens - tokens;
    if (l->call.waited_since == 0)
        l->call.waited_since = clock_seconds(), l->call.waited_first = l->r->waited_all;
    if (code != RAPT_ERR_INTERRUPTED)
        l->changed = true, l->saved = false;
    return code;
}

/* Saves the initial model as a model folder, to see what training changes. */
static rapt_code save_untrained(run *r, rapt_error *err)
{
    char *folder;
    if (r->counters.step > 0 || !r->recipe->train.keep_untrained)
        return RAPT_OK;
    rapt_code code = file_path(r->options->out, "untrained", &folder, err);
    if (!code)
        code = rapt_model_save(r->model, folder, err);
    free(folder);
    return code;
}

static rapt_code run_steps(loop *l, rapt_error *err)
{
    run *r = l->r;
    rapt_code code = ranks_first(r, save_untrained, err);
    if (code)
        return code;
    if (report_stopped_early(r))
        report_progress(r, &l->call);
    else if (report_missing(r))
        code = after_step(l, err);
    while (!code && r->counters.step < l->call.end && !run_stop_asked(r) && !report_stopped_early(r)) {
        code = step_once(l, err);
        if (!code)
            code = after_step(l, err);
    }
    if (code != RAPT_ERR_INTERRUPTED)
        return code;
    *err = (rapt_error){0}; /* it was asked for and is not a failure */
    return RAPT_OK;
}

/* ---- finish --------------------------------------------------------------------------------------------------- */

/* Whether the folder has the model already: only rank 0 sees it. */
static rapt_code find_saved(run *r, bool *saved, rapt_error *err)
{
    *saved = run_is_first(r) && resume_model_is_saved(r);
    return ranks_give(r, saved, sizeof *saved, err);
}

/* Ends this call: a stopped run gets a partial line in its log, and every run a model and a checkpoint of its last step. A run
 * that had nothing to do changes neither. */
static rapt_code finish_run(loop *l, rapt_error *err)
{
    run *r = l->r;
    const run_counters *c = &r->counters;
    rapt_code code = RAPT_OK;
    bool saved = c->step == 0 || l->saved;
    if (c->step == 0 && r->options->untrained)
        code = ranks_first(r, save_params, err);
    if (!code && !saved && !l->changed)
        code = find_saved(r, &saved, err);
    if (!code && !saved)
        code = save_checkpoint(l, err);
    if (!code && c->tokens > 0)
        code = train_report(l, true, err);
    if (!code && run_stop_asked(r) && (c->step < l->call.end || report_missing(r)) && !report_stopped_early(r))
        code = rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped after step %llu of %llu; to resume: rapt train --resume --out %s",
                         (unsigned long long)c->step, (unsigned long long)l->call.end, r->options->out);
    return code;
}

rapt_code rapt_train(const rapt_train_options *options, rapt_error *err)
{
    run r;
    rapt_error own = {0}; /* `err` may hold an earlier failure, which stays */
    rapt_code code = run_set_up(&r, options, &own);
    if (!code) {
        loop l = loop_begin(&r);
        code = run_steps(&l, &own);
        if (!code)
            code = finish_run(&l, &own);
    }
    run_free(&r);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
