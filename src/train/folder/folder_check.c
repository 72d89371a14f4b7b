/* train/folder/folder_check.c: compares the files of a folder with the files that a run would write. */
#include "train/folder/folder_check.h"

#include "base/file.h"
#include "io/hub/hub_origin.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/folder/log.h"
#include "train/folder/tensorboard.h"

#include <string.h>

/* The first of some names (ended by NULL) that the folder holds; *found is unchanged if there is none. */
static rapt_code folder_first(const run *r, const char *const *names, const char **found, rapt_error *err)
{
    bool there = false;
    rapt_code code = RAPT_OK;
    for (; *names && !there && !code; names++) {
        code = file_is_in(r->options->out, *names, &there, err);
        *found = !code && there ? *names : *found;
    }
    return code;
}

/* A file of the folder that a run would overwrite; *name stays NULL if there is none. */
static rapt_code would_be_lost(const run *r, const char **name, rapt_error *err)
{
    static const char *const always[] = {"config.json", "model.safetensors", "adapter_config.json",
                                         "adapter_model.safetensors", "recipe.yaml", "train.jsonl", NULL};
    const char *of_task[TASK_MAX_FILES + 1], *const best[] = {run_validates(r) ? "best" : NULL, NULL};
    const char *const untrained[] = {r->recipe->train.keep_untrained ? "untrained" : NULL, NULL};
    const char *const events[] = {r->recipe->train.tensorboard ? TENSORBOARD_FILE : NULL, NULL};
    rapt_code code = r->task->files(r, of_task, err);
    const char *const *lists[] = {always, of_task, best, untrained, events};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !code && !*name; i++)
        code = folder_first(r, lists[i], name, err);
    return code;
}

/* Finds files that only a run with steps leaves, because these steps would be lost if the run started again. A log without a line
 * does not count. */
static rapt_code was_trained(const run *r, const char **name, rapt_error *err)
{
    static const char *const names[] = {"best", NULL};
    bool there = false;
    rapt_code code = log_has_lines(r->options->out, &there, err);
    *name = !code && there ? "train.jsonl" : NULL;
    return code || *name ? code : folder_first(r, names, name, err);
}

rapt_code folder_check_no_checkpoint(const run *r, const char *name, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE,
                     "%s holds %s but no checkpoint to resume from: bring back its folder \"checkpoints\", or "
                     "choose another folder to start again", r->options->out, name);
}

static rapt_code check_resumable(const run *r, rapt_error *err)
{
    const char *name = NULL;
    rapt_code code = r->newest ? RAPT_OK : was_trained(r, &name, err);
    return code || !name ? code : folder_check_no_checkpoint(r, name, err);
}

static rapt_code check_unused(const run *r, rapt_error *err)
{
    const char *out = r->options->out, *name = NULL;
    if (r->newest)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s holds checkpoints of an earlier run: --resume continues it; or choose another "
                         "folder", out);
    rapt_code code = would_be_lost(r, &name, err);
    if (code || !name)
        return code;
    const char *trained = NULL, *model = NULL;
    code = was_trained(r, &trained, err);
    code = code || trained ? code : folder_first(r, (const char *const[]){"model.safetensors", NULL}, &model, err);
    const bool of_rapt = !trained && (!model || strcmp(name, model) != 0); /* it has more than a model */
    const char *hint = !of_rapt ? "" : model ? ", or where its model is untrained (--max-steps 0), --resume to train it"
                                             : ", or where a run stopped early, --resume to start it again";
    return code ? code
                : rapt_fail(err, RAPT_ERR_VALUE, "%s holds %s and no checkpoint: choose another folder%s", out, name, hint);
}

rapt_code folder_check(run *r, rapt_error *err)
{
    checkpoint_list l;
    rapt_code code = checkpoint_list_read(r->options->out, &l, err);
    r->newest = checkpoint_list_newest(&l);
    checkpoint_list_free(&l);
    if (code)
        return code;
    return r->options->resume ? check_resumable(r, err) : check_unused(r, err);
}

rapt_code folder_check_files(run *r, rapt_error *err)
{
    const hub_origin *o = r->model->origin;
    const char *name = NULL;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; o && !r->options->resume && HUB_ORIGIN_FILES[i] && !name && !code; i++)
        if (o->files[i].data)
            code = folder_first(r, (const char *const[]){HUB_ORIGIN_FILES[i], NULL}, &name, err);
    return code || !name ? code : rapt_fail(err, RAPT_ERR_VALUE, "%s holds %s, as the model in %s does: choose another folder",
                                            r->options->out, name, r->init);
}
