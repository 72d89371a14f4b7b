/* train/run.c: what set-up, loop and tasks of a run share: defaults of its options, its end, warnings and phases for the caller,
 * requests to stop. It calls none of them. report.c reports the progress of steps. */
#include "train/run.h"

#include "base/file.h"
#include "base/sized.h"
#include "group/group_ops.h"
#include "io/hub/hub_family.h"
#include "io/model_core.h"
#include "io/stored_blocks.h"
#include "recipe/recipe_init.h"
#include "train/optimizer/grad_release.h"
#include "train/optimizer/moving_average.h"
#include "train/ranks/ranks_work.h"
#include "train/shards/step_shards.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUN_WARNING = 600 };

SIZED_ENDS_WITH(rapt_train_options, reserved);

void rapt_train_options_init(rapt_train_options *o, size_t size)
{
    sized_init(o, size, &(rapt_train_options){.size = sizeof(rapt_train_options)}, sizeof *o);
}

/* Makes sure that the group has nothing in flight that uses memory of the run; false: it has. */
static bool run_drop(run *r)
{
    return !r->group || (step_shards_drop(r->shards) && (!group_broken(r->group) || group_halt(r->group)));
}

/* If a call of the message layer does not return, the memory that it may use must stay allocated. That is gradients, parameters,
 * moments and most of the rest of a run, so the whole run stays. The process is about to end. */
void run_free(run *r)
{
    if (!run_drop(r)) {
        folder_lock_release(&r->lock);
        return;
    }
    rapt_adam_free(r->adam);
    moving_average_free(r->average);
    step_shards_free(r->shards);
    grad_release_free(r->release);
    rapt_tape_free(r->tape);
    if (r->data)
        r->task->close(r);
    rapt_model_free(r->model);
    folder_lock_release(&r->lock);
    free(r->yaml);
    free(r->work.words);
    free(r->work.bounds);
    if (r->recipe == &r->own)
        rapt_recipe_free(&r->own);
}

/* Completes the recipe with what the model decides. */
static rapt_code run_take_init(run *r, rapt_error *err)
{
    const char *type = r->model->family;
    if (type && !hub_family_of(type)->trains)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is a Hugging Face folder of type %s, which rapt runs, but does not train; it "
                         "trains %s", r->init, type, hub_family_list(true).text);
    if (r->model->stored && stored_blocks_any(r->model->stored) && r->options->recipe->train.lora.rank > 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "train.lora: %s stores weights in blocks (%s), which take no adapters; train them "
                         "on the model that it was made of", r->init, r->model->stored_type);
    if (r->model->stored_type)
        run_warn(r, "%s: training starts from weights of fewer bits (%s)", r->init, r->model->stored_type);
    const char *resumed = run_is_first(r) && r->options->resume && r->newest ? r->options->out : NULL;
    rapt_code code = recipe_init_take(r->options->recipe, r->model, r->init, resumed, &r->own, err);
    if (!code)
        r->recipe = &r->own;
    return code;
}

rapt_code run_load_init(run *r, rapt_task task, rapt_error *err)
{
    rapt_load_options load = rapt_load_options_default();
    load.task = task;
    load.held = r->options->recipe->train.lora.rank > 0 &&
                (r->options->recipe->train.lora.hold || r->options->recipe->train.precision == RAPT_TYPE_BF16);
    r->model = rapt_model_load(r->init, &load, err);
    return r->model ? run_take_init(r, err) : err->code;
}

bool run_validates(const run *r)
{
    return r->recipe->data.validation_fraction > 0 || r->recipe->data.validation || r->options->validation_tokens;
}

void run_warn(const run *r, const char *format, ...)
{
    char text[RUN_WARNING];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r->options->on_warning && run_is_first(r))
        r->options->on_warning(r->options->context, text);
}

void run_phase(const run *r, const char *what, size_t done, size_t count)
{
    if (r->options->on_phase && run_is_first(r))
        r->options->on_phase(r->options->context, what, done, count);
}

/* A rapt_stop_fn. */
static bool group_stops(void *context)
{
    return ranks_stop_asked(context);
}

stop_check run_stop(const run *r)
{
    return r->group ? (stop_check){group_stops, r->work.of} : (stop_check){r->options->stop, r->options->context};
}

const char *run_pipe_hint(const run *r)
{
    return r->piped && r->options->resume ? "; the data come through a pipe, which must give the same bytes as before" : "";
}

bool run_is_first(const run *r)
{
    return r->rank == 0;
}

bool run_stop_asked(const run *r)
{
    return stop_asked(run_stop(r));
}

rapt_code run_stopped(const run *r, rapt_error *err)
{
    return run_stop_asked(r) ? rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped") : RAPT_OK;
}

rapt_code run_write(const run *r, const char *name, const char *text, size_t size, rapt_error *err)
{
    char *path;
    rapt_code code = file_path(r->options->out, name, &path, err);
    if (!code)
        code = file_write_atomic(path, text, size, err);
    free(path);
    return code;
}
