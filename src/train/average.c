/* train/average.c: the mean of the last checkpoints as a model of its own, which mostly is better than each of them
 * (Vaswani et al. 2017, section 6.1). For `rapt average` and for programs. */
#define _GNU_SOURCE /* realpath */
#include "rapt/train.h"

#include "io/params.h"
#include "rapt/io.h"
#include "train/checkpoint.h"

#include <stdlib.h>
#include <string.h>

typedef struct average {
    const char *run;
    rapt_model *model; /* takes the mean */
    uint64_t *steps;   /* [count], oldest first */
    size_t count;
    double **sums;     /* of each parameter; NULL for buffers */
} average;

static rapt_code find_steps(average *a, rapt_error *err)
{
    uint64_t step = UINT64_MAX;
    a->steps = malloc((a->count + 1) * sizeof *a->steps);
    if (!a->steps)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for an average");
    for (size_t i = a->count; i > 0; i--)
        a->steps[i - 1] = step = checkpoint_before(a->run, step);
    return RAPT_OK;
}

static size_t count_checkpoints(const char *run)
{
    size_t count = 0;
    for (uint64_t step = UINT64_MAX; (step = checkpoint_before(run, step)) > 0;)
        count++;
    return count;
}

static rapt_code choose_count(average *a, size_t wanted, rapt_error *err)
{
    size_t there = count_checkpoints(a->run);
    a->count = wanted ? wanted : there;
    if (a->count > 0 && a->count <= there)
        return RAPT_OK;
    return rapt_fail(err, RAPT_VALUE, "%s holds %zu checkpoints; %zu are to be averaged (train.keep says how many are kept)",
                     a->run, there, a->count ? a->count : 1);
}

/* The model of the run itself would be lost. */
static rapt_code check_out(const char *run, const char *out, rapt_error *err)
{
    char *from = realpath(run, NULL), *to = realpath(out, NULL);
    bool same = from && to && strcmp(from, to) == 0;
    free(from);
    free(to);
    return same ? rapt_fail(err, RAPT_VALUE, "%s is the run itself; the average goes to another folder", out) : RAPT_OK;
}

static rapt_code allocate(average *a, rapt_error *err)
{
    const rapt_params *set = a->model->params;
    a->sums = calloc(rapt_params_count(set) + 1, sizeof *a->sums);
    bool ok = a->sums != NULL;
    for (size_t i = 0; ok && i < rapt_params_count(set); i++)
        if (!rapt_params_at(set, i)->buffer)
            ok = (a->sums[i] = calloc(rapt_tensor_size(&rapt_params_at(set, i)->value), sizeof **a->sums)) != NULL;
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for an average");
}

static void add(double *sum, const rapt_tensor *x)
{
    for (size_t i = 0; i < rapt_tensor_size(x); i++)
        sum[i] += (double)x->data[i];
}

/* Reads each tensor into the model, which is only a place for it. */
static rapt_code add_checkpoint(average *a, uint64_t step, rapt_error *err)
{
    safetensors *file = NULL;
    char *path = checkpoint_path(a->run, step);
    rapt_code code = path ? safetensors_open(path, &file, err) : rapt_fail(err, RAPT_NO_MEMORY, "no memory for an average");
    for (size_t i = 0; !code && i < rapt_params_count(a->model->params); i++) {
        rapt_tensor *x = &rapt_params_at(a->model->params, i)->value;
        if (!a->sums[i])
            continue;
        code = params_read(file, path, x->name, x, x->data, err);
        if (!code)
            add(a->sums[i], x);
    }
    safetensors_close(file);
    free(path);
    return code;
}

static void take_means(const average *a)
{
    for (size_t i = 0; i < rapt_params_count(a->model->params); i++) {
        rapt_tensor *x = &rapt_params_at(a->model->params, i)->value;
        for (size_t j = 0; a->sums[i] && j < rapt_tensor_size(x); j++)
            x->data[j] = (rapt_real)(a->sums[i][j] / (double)a->count);
    }
}

static void release(average *a)
{
    for (size_t i = 0; a->sums && i < rapt_params_count(a->model->params); i++)
        free(a->sums[i]);
    free(a->sums);
    free(a->steps);
    rapt_model_free(a->model);
}

rapt_code rapt_average(const char *run, size_t count, const char *out, rapt_error *err)
{
    rapt_error own = {0};
    average a = {.run = run, .model = rapt_model_load(run, &own)};
    if (!a.model)
        return rapt_fail(err, own.code, "%s", own.message);
    rapt_code code = check_out(run, out, err);
    if (!code)
        code = choose_count(&a, count, err);
    if (!code)
        code = find_steps(&a, err);
    if (!code)
        code = allocate(&a, err);
    for (size_t i = 0; i < a.count && !code; i++)
        code = add_checkpoint(&a, a.steps[i], err);
    if (!code) {
        take_means(&a);
        code = rapt_model_save(a.model, out, err);
    }
    release(&a);
    return code;
}
