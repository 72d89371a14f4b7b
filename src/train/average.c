/* train/average.c: checkpoint averaging: the mean of the last checkpoints as a model, usually better than each of
 * them (Vaswani et al. 2017, section 6.1). For `rapt average` and for programs. */
#include "rapt/train.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/lock.h"
#include "io/model_core.h"
#include "io/params_file.h"
#include "io/seal.h"
#include "train/checkpoint/averages.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/folder/leftovers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct average {
    const char *run;
    rapt_model *model; /* takes the mean */
    checkpoint_list list;
    const uint64_t *steps; /* the last `count` of the list, oldest first */
    size_t count;
    double **sums;     /* sums of each parameter; NULL for buffers */
} average;

/* The folder is read once: a checkpoint that the run deletes afterwards is an error, and not silently left out of the mean. */
static rapt_code find_steps(average *a, size_t wanted, rapt_error *err)
{
    rapt_code code = checkpoint_list_read(a->run, &a->list, err);
    if (code)
        return code;
    a->count = wanted ? wanted : a->list.count;
    if (a->count > 0 && a->count <= a->list.count) {
        a->steps = a->list.steps + (a->list.count - a->count);
        return RAPT_OK;
    }
    return rapt_fail(err, RAPT_ERR_VALUE, "%s holds %zu checkpoints; %zu are to be averaged (train.keep says how many are kept)",
                     a->run, a->list.count, a->count ? a->count : 1);
}

static rapt_code average_stat(const char *folder, const char *name, disk_entry *info, bool *there, rapt_error *err)
{
    char *path;
    if (file_path(folder, name, &path, err))
        return RAPT_ERR_MEMORY;
    int reason = disk_look(path, info) ? 0 : errno;
    *there = reason == 0;
    rapt_code code = reason && reason != ENOENT ? rapt_fail(err, RAPT_ERR_IO, "cannot look at %.380s: %s", path, strerror(reason))
                                                : RAPT_OK;
    free(path);
    return code;
}

/* Refuses to write the average into the folder of a training run or its best/. */
static rapt_code check_no_run(const char *out, rapt_error *err)
{
    static const char *const names[] = {"checkpoints", "train.jsonl"};
    disk_entry to, best, info;
    bool there = false, has = false, is_best = false, of_run = false;
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && !there && i < sizeof names / sizeof *names; i++)
        code = average_stat(out, names[i], &info, &there, err);
    if (!code && there)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is the folder of a training run; the average goes to another one", out);
    code = code ? code : average_stat(out, "", &to, &there, err);
    code = code ? code : average_stat(out, "../best", &best, &has, err);
    code = code ? code : average_stat(out, "../checkpoints", &info, &of_run, err);
    is_best = !code && there && has && of_run && disk_is_same(&to, &best);
    return is_best
           ? rapt_fail(err, RAPT_ERR_VALUE, "%s belongs to a training run; the average goes to another folder", out) : code;
}

/* Refuses to overwrite the model of this run, or one of those that it keeps. */
static rapt_code average_check_out(const char *run, const char *out, rapt_error *err)
{
    static const char *const names[] = {"", "best", "untrained", "checkpoints"};
    disk_entry to, from;
    bool there, same = false;
    rapt_code code = average_stat(out, "", &to, &there, err);
    for (size_t i = 0; !code && there && !same && i < sizeof names / sizeof *names; i++) {
        bool has;
        code = average_stat(run, names[i], &from, &has, err);
        same = !code && has && disk_is_same(&to, &from);
    }
    return same ? rapt_fail(err, RAPT_ERR_VALUE, "%s is the run itself; the average goes to another folder", out) : code;
}

static rapt_code average_allocate(average *a, rapt_error *err)
{
    const rapt_params *set = a->model->params;
    a->sums = calloc(rapt_params_count(set) + 1, sizeof *a->sums);
    bool ok = a->sums != NULL;
    for (size_t i = 0; ok && i < rapt_params_count(set); i++)
        if (!rapt_params_at(set, i)->buffer)
            ok = (a->sums[i] = calloc(rapt_tensor_size(&rapt_params_at(set, i)->value), sizeof **a->sums)) != NULL;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an average");
}

/* Checkpoints of another run may have the same shapes. */
static rapt_code check_run(const average *a, const safetensors *file, const char *path, rapt_error *err)
{
    uint64_t run;
    rapt_code code = seal_run(file, path, &run, err);
    if (code || !run || !a->model->run || run == a->model->run)
        return code;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: of another training run than %s", path, a->run);
}

/* Reads each tensor into the model, which serves as a buffer, and adds it to the sums. */
static rapt_code add_checkpoint(average *a, uint64_t step, rapt_error *err)
{
    safetensors *file = NULL;
    char *path = checkpoint_path(a->run, step);
    rapt_code code = path ? safetensors_open(path, &file, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an average");
    if (!code)
        code = check_run(a, file, path, err);
    for (size_t i = 0; !code && i < rapt_params_count(a->model->params); i++) {
        rapt_tensor *x = &rapt_params_at(a->model->params, i)->value;
        if (!a->sums[i])
            continue;
        code = averages_read_model(file, path, x, err);
        for (size_t j = 0; !code && j < rapt_tensor_size(x); j++)
            a->sums[i][j] += (double)x->data[j];
    }
    safetensors_close(file);
    free(path);
    return code;
}

static void average_take_means(const average *a)
{
    for (size_t i = 0; i < rapt_params_count(a->model->params); i++) {
        rapt_tensor *x = &rapt_params_at(a->model->params, i)->value;
        for (size_t j = 0; a->sums[i] && j < rapt_tensor_size(x); j++)
            x->data[j] = (rapt_real)(a->sums[i][j] / (double)a->count);
    }
}

static void average_release(average *a)
{
    for (size_t i = 0; a->sums && i < rapt_params_count(a->model->params); i++)
        free(a->sums[i]);
    free(a->sums);
    checkpoint_list_free(&a->list);
    rapt_model_free(a->model);
}

/* The caller holds the lock of `out`. */
static rapt_code take_average(average *a, size_t count, const char *out, rapt_error *err)
{
    rapt_code code = find_steps(a, count, err);
    if (!code)
        code = average_allocate(a, err);
    for (size_t i = 0; i < a->count && !code; i++)
        code = add_checkpoint(a, a->steps[i], err);
    if (code)
        return code;
    average_take_means(a);
    leftovers_remove(out, false);
    return rapt_model_save(a->model, out, err);
}

rapt_code rapt_average(const char *run, size_t count, const char *out, rapt_error *err)
{
    rapt_error own = {0};
    folder_lock lock = {0};
    average a = {.run = run, .model = rapt_model_load(run, NULL, &own)};
    if (!a.model)
        return rapt_fail(err, own.code, "%s", own.message);
    rapt_code code = RAPT_OK;
    if (a.model->adapter) /* the mean of products B A is not the product of the means */
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: a run that trained adapters (LoRA); rapt averages whole models", run);
    code = code ? code : average_check_out(run, out, err);
    if (!code)
        code = folder_lock_take(&lock, out, err);
    code = code ? code : check_no_run(out, err);
    if (!code)
        code = take_average(&a, count, out, err);
    average_release(&a);
    folder_lock_release(&lock);
    return code;
}
