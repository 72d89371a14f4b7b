/* train/train.c: a training run from beginning to end: open, check, prepare, loop, finish. Each stage has its own file; this file
 * has their order, and the handling of failures and stops. */
#include "base/chars.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/sized.h"
#include "data/pairs.h"
#include "recipe/recipe_keys.h"
#include "tape/tape_core.h"
#include "train/checkpoint/checkpoint_clock.h"
#include "train/folder/folder_begin.h"
#include "train/folder/folder_check.h"
#include "train/folder/lengthen.h"
#include "train/folder/run_state.h"
#include "train/optimizer/moving_average.h"
#include "train/ranks/handshake.h"
#include "train/ranks/ranks_work.h"
#include "train/ranks/run_moments.h"
#include "train/report.h"
#include "train/set_up.h"
#include "train/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- open, check, prepare ------------------------------------------------------------------------------------- */

/* Options that would have no effect. Data of the other task would not be read, and files would be in their place. */
static rapt_code check_train_options(run *r, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    const bool pairs = r->recipe->task == RAPT_TASK_TRANSLATION;
    const char *of_text = o->tokens ? "tokens" : o->validation_tokens ? "validation_tokens" : NULL;
    const char *of_pairs = o->pairs ? "pairs" : o->validation ? "validation" : NULL, *other = pairs ? of_text : of_pairs;
    if (o->reset_optimizer && !o->resume)
        return rapt_fail(err, RAPT_ERR_VALUE, "rapt_train_options.reset_optimizer is for a run that is resumed");
    return other ? rapt_fail(err, RAPT_ERR_VALUE, "rapt_train_options.%s is for %s; the task of the recipe is %s", other,
                             pairs ? "language models" : "translation", pairs ? "translation" : "language_model")
                 : RAPT_OK;
}

static rapt_code take_folder(run *r, rapt_error *err)
{
    return folder_lock_take(&r->lock, r->options->out, err);
}

/* Only rank 0 sees the folder. */
static rapt_code give_newest(run *r, rapt_error *err)
{
    return ranks_give(r, &r->newest, sizeof r->newest, err);
}

/* Whether a message names a path, or one of several with : or line breaks between them. */
static bool names_path(const char *message, const char *list)
{
    bool found = false;
    for (size_t size; *list && !found; list += size + (list[size] != '\0')) {
        size = disk_list_part(list, ":" PAIRS_BETWEEN);
        found = size > 0 && chars_find(message, strlen(message), list, size);
    }
    return found;
}

/* A folder's recipe has the paths of the machine on which the run began; names the key to set if data are elsewhere now. */
static void name_moved_key(const run *r, rapt_error *err)
{
    rapt_recipe recipe = *r->options->recipe;
    const rapt_error why = *err;
    for (size_t i = 0; i < recipe_key_count(); i++) {
        const recipe_key *key = recipe_key_at(i);
        char **path = recipe_key_path(key, &recipe);
        if (path && *path && names_path(why.message, *path)) {
            *err = (rapt_error){0};
            rapt_fail(err, why.code, "%.400s; if it is elsewhere now: --set %s=PATH", why.message, key->name);
            return;
        }
    }
}

static rapt_code open_data(run *r, rapt_error *err)
{
    run_phase(r, "reading the data", 0, 0);
    rapt_code code = r->task->open(r, err);
    const rapt_error why = *err;
    if (code && code != RAPT_ERR_INTERRUPTED && *run_pipe_hint(r)) {
        *err = (rapt_error){0};
        rapt_fail(err, code, "%.400s%s", why.message, run_pipe_hint(r));
    } else if (code == RAPT_ERR_NOT_FOUND && r->options->resume)
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
        {ranks_each, check_train_options},   /* with no data of another task; */
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
    r->task = r->recipe->task == RAPT_TASK_TRANSLATION ? &train_translation
              : r->recipe->data.conversations ? &train_conversations
              : r->recipe->data.preferences ? &train_preferences : &train_language_model;
    rapt_code code = ranks_join(r, options->group, err);
    code = code ? code : run_stages(r, stages, sizeof stages / sizeof *stages, err);
    if (code != RAPT_ERR_INTERRUPTED)
        return code;
    *err = (rapt_error){0};
    return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped before %s step; the folder is as it was",
                     r->newest ? "another" : "the first");
}

/* ---- loop ----------------------------------------------------------------------------------------------------- */

struct rapt_trainer {
    rapt_train_options options;
    run r;
    run_call call;
    checkpoint_clock clock;
    bool begun;       /* what comes before the first step is done */
    bool interrupted; /* a step or report was, as the caller asked for */
    bool finished;    /* by rapt_trainer_finish, with `end` */
    rapt_code end;
    double left;      /* when the last call ended: the time until the next one is the program's own */
    bool changed;     /* this call has made a step or a report, */
    bool saved;       /* and the folder's model and checkpoint have it all */
    rapt_error failure; /* the first one: nothing is computed or written after it */
};

/* From the step that the set-up found; a resumed run may be past the last one that was asked for. */
static void trainer_set_out(rapt_trainer *t)
{
    run *r = &t->r;
    uint64_t limit = r->options->max_steps, end = limit && limit < r->steps ? limit : r->steps, step = r->counters.step;
    double now = clock_seconds();
    r->resumable = r->newest > 0;
    end = end > step && !r->options->untrained ? end : step;
    t->call = (run_call){.first = step, .end = end, .started = now,
                         .lr = step ? step_rate(r, step) : 0, .step_loss = NAN};
    t->clock = (checkpoint_clock){.last = now};
    t->left = now;
}

static rapt_code save_params(run *r, rapt_error *err)
{
    step_exchange_average(r);
    rapt_code code = rapt_model_save_params(r->model, r->options->out, err);
    step_exchange_average(r);
    return code;
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

static rapt_code save_checkpoint(rapt_trainer *t, rapt_error *err)
{
    run *r = &t->r;
    const checkpoint_state s = run_state_of(r, report_seconds(r, &t->call));
    const moments m = run_moments(r);
    double before = clock_seconds();
    run_phase(r, "writing a checkpoint", 0, 0);
    rapt_code code = step_params(r, err);
    if (!code)
        code = handshake_same_parameters(r, err);
    if (!code)
        code = save_model_and_checkpoint(r, &m, &s, err);
    double now = clock_seconds();
    checkpoint_clock_written(&t->clock, before, now);
    t->call.pause += now - before;
    t->saved = !code;
    r->resumable = r->resumable || !code;
    return code;
}

/* With a group, only rank 0's clock counts; train_step tells the others. */
static bool checkpoint_due(const rapt_trainer *t)
{
    uint64_t every = (uint64_t)t->r.recipe->train.checkpoint_every, step = t->r.counters.step;
    if (step == t->call.end)
        return false;
    if (every)
        return step % every == 0;
    return t->r.group ? t->r.checkpoint_agreed : checkpoint_clock_due(&t->clock, clock_seconds());
}

static rapt_code train_report(rapt_trainer *t, bool partial, rapt_error *err)
{
    rapt_code code = report_make(&t->r, &t->call, partial, err);
    if (!partial && code != RAPT_ERR_INTERRUPTED)
        t->changed = true, t->saved = false; /* its counters start again */
    return code;
}

/* After a step: progress, and if they are due, a report, a sample and a checkpoint. */
static rapt_code after_step(rapt_trainer *t, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    bool reports = report_due(&t->r);
    if (reports && !t->r.resumable) /* or a kill after the report would leave a run that cannot be resumed */
        code = save_checkpoint(t, err);
    if (!code && reports)
        code = train_report(t, false, err);
    else if (!code)
        report_progress(&t->r, &t->call);
    if (!code && report_sample_due(&t->r))
        code = report_sample(&t->r, &t->call, err);
    return !code && checkpoint_due(t) ? save_checkpoint(t, err) : code;
}

static rapt_code step_once(rapt_trainer *t, rapt_error *err)
{
    const uint64_t labels = t->r.labels, tokens = t->r.counters.tokens;
    const double nll = t->r.counters.nll;
    t->r.checkpoint_wanted = checkpoint_clock_due(&t->clock, clock_seconds());
    rapt_code code = train_step(&t->r, &t->call.lr, err);
    t->call.tokens += t->r.labels - labels;
    const uint64_t read = t->r.counters.tokens - tokens;
    if (!code)
        t->call.step_loss = read ? (t->r.counters.nll - nll) / (double)read : NAN;
    if (t->call.waited_since == 0)
        t->call.waited_since = clock_seconds(), t->call.waited_first = t->r.waited_all;
    if (code != RAPT_ERR_INTERRUPTED)
        t->changed = true, t->saved = false;
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

/* What comes before the first step: in a run that was stopped within a report, the rest of that report. */
static rapt_code trainer_begin(rapt_trainer *t, rapt_error *err)
{
    run *r = &t->r;
    if (t->begun)
        return RAPT_OK;
    t->begun = true;
    rapt_code code = ranks_first(r, save_untrained, err);
    if (!code && report_stopped_early(r))
        report_progress(r, &t->call);
    else if (!code && report_missing(r))
        code = after_step(t, err);
    return code;
}

/* The program's own time is not the training's. */
static void trainer_begin_call(rapt_trainer *t)
{
    t->call.pause += clock_seconds() - t->left;
}

/* Keeps a failure, so that nothing is computed or written after it. That the caller wants to stop is none. */
static rapt_code trainer_end_call(rapt_trainer *t, rapt_code code, const rapt_error *why, rapt_error *err)
{
    t->left = clock_seconds();
    t->interrupted = t->interrupted || code == RAPT_ERR_INTERRUPTED;
    if (code && code != RAPT_ERR_INTERRUPTED)
        rapt_fail(&t->failure, code, "%s", why->message);
    return t->failure.code ? rapt_fail(err, t->failure.code, "%s", t->failure.message) : RAPT_OK;
}

bool rapt_trainer_is_over(const rapt_trainer *t)
{
    const run *r = &t->r;
    return t->failure.code || t->finished || t->interrupted || r->counters.step >= t->call.end || run_stop_asked(r) ||
           report_stopped_early(r);
}

rapt_code rapt_trainer_step(rapt_trainer *t, rapt_error *err)
{
    rapt_error own = {0};
    trainer_begin_call(t);
    rapt_code code = t->failure.code || t->finished ? RAPT_OK : trainer_begin(t, &own);
    if (!code && !rapt_trainer_is_over(t)) {
        code = step_once(t, &own);
        code = code ? code : after_step(t, &own);
    }
    return trainer_end_call(t, code, &own, err);
}

/* ---- between steps -------------------------------------------------------------------------------------------- */

void rapt_trainer_progress(const rapt_trainer *t, rapt_progress *out)
{
    *out = report_progress_of(&t->r, &t->call);
}

const rapt_model *rapt_trainer_model(rapt_trainer *t, rapt_error *err)
{
    rapt_error own = {0};
    rapt_code code = trainer_end_call(t, t->failure.code ? RAPT_OK : step_params(&t->r, &own), &own, err);
    return code ? NULL : t->r.model;
}

rapt_code rapt_trainer_evaluate(rapt_trainer *t, double *val_loss, rapt_error *err)
{
    rapt_error own = {0};
    *val_loss = NAN;
    trainer_begin_call(t);
    const double start = clock_seconds();
    rapt_code code = t->failure.code ? RAPT_OK : report_validate(&t->r, val_loss, &own);
    t->call.pause += clock_seconds() - start;
    if (code == RAPT_ERR_VALUE || code == RAPT_ERR_INTERRUPTED) { /* the run is as it was */
        t->left = clock_seconds();
        return rapt_fail(err, code, "%s", own.message);
    }
    return trainer_end_call(t, code, &own, err);
}

rapt_code rapt_trainer_save(rapt_trainer *t, rapt_error *err)
{
    rapt_error own = {0};
    const bool any = !t->failure.code && !t->finished && t->r.counters.step > 0;
    trainer_begin_call(t);
    return trainer_end_call(t, any ? save_checkpoint(t, &own) : RAPT_OK, &own, err);
}

/* ---- finish --------------------------------------------------------------------------------------------------- */

/* Whether the folder has the model already: only rank 0 sees it. */
static rapt_code find_saved(run *r, bool *saved, rapt_error *err)
{
    step_exchange_average(r);
    *saved = run_is_first(r) && resume_model_is_saved(r);
    step_exchange_average(r);
    return ranks_give(r, saved, sizeof *saved, err);
}

/* Ends this call: a stopped run gets a partial line in its log, and every run a model and a checkpoint of its last step. A run
 * that had nothing to do changes neither. */
static rapt_code finish_run(rapt_trainer *t, rapt_error *err)
{
    run *r = &t->r;
    const run_counters *c = &r->counters;
    rapt_code code = RAPT_OK;
    bool saved = c->step == 0 || t->saved;
    if (c->step == 0 && r->options->untrained)
        code = ranks_first(r, save_params, err);
    if (!code && !saved && !t->changed)
        code = find_saved(r, &saved, err);
    if (!code && !saved)
        code = save_checkpoint(t, err);
    if (!code && c->tokens > 0)
        code = train_report(t, true, err);
    const bool short_of_end = c->step < t->call.end || report_missing(r);
    if (!code && (t->interrupted || run_stop_asked(r)) && short_of_end && !report_stopped_early(r))
        code = rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped after step %llu of %llu; to resume: rapt train --resume --out %s",
                         (unsigned long long)c->step, (unsigned long long)t->call.end, r->options->out);
    return code;
}

/* From here on the model that the program sees is the one that the folder has. */
static void end_average(run *r)
{
    step_exchange_average(r);
    moving_average_free(r->average);
    r->average = NULL;
}

rapt_code rapt_trainer_finish(rapt_trainer *t, rapt_error *err)
{
    rapt_error own = {0};
    if (t->finished)
        return t->end ? rapt_fail(err, t->end, "the run has ended") : RAPT_OK;
    trainer_begin_call(t);
    rapt_code code = t->failure.code ? RAPT_OK : trainer_begin(t, &own);
    code = trainer_end_call(t, code, &own, err);
    if (!code) {
        own = (rapt_error){0};
        t->finished = true;
        t->end = finish_run(t, &own);
        code = t->end == RAPT_ERR_INTERRUPTED ? rapt_fail(err, t->end, "%s", own.message)
                                              : trainer_end_call(t, t->end, &own, err);
        if (!t->failure.code)
            end_average(&t->r);
    }
    folder_lock_release(&t->r.lock); /* nothing is written any more, and the program may keep the model for long */
    return code;
}

rapt_trainer *rapt_trainer_new(const rapt_train_options *options, rapt_error *err)
{
    rapt_error own = {0}; /* `err` may hold an earlier failure, which stays */
    rapt_trainer *t = calloc(1, sizeof *t);
    if (!t) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a training run");
        return NULL;
    }
    t->options = rapt_train_options_default();
    rapt_code code = sized_take(&t->options, options, t->options.reserved, sizeof t->options.reserved, "train_options", &own);
    if (!code && (!t->options.recipe || !t->options.out))
        code = rapt_fail(&own, RAPT_ERR_VALUE, "rapt_train_options needs a recipe and a folder, `out`");
    if (!code && run_set_up(&t->r, &t->options, &own) == RAPT_OK) {
        trainer_set_out(t);
        return t;
    }
    rapt_fail(err, own.code, "%s", own.message);
    rapt_trainer_free(t);
    return NULL;
}

void rapt_trainer_free(rapt_trainer *t)
{
    if (t)
        run_free(&t->r);
    free(t);
}

rapt_code rapt_train(const rapt_train_options *options, rapt_error *err)
{
    rapt_error own = {0};
    rapt_trainer *t = rapt_trainer_new(options, &own);
    rapt_code code = t ? RAPT_OK : own.code;
    do
        code = code ? code : rapt_trainer_step(t, &own);
    while (!code && !rapt_trainer_is_over(t));
    code = code ? code : rapt_trainer_finish(t, &own);
    rapt_trainer_free(t);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}
