/* cli/info_recipe.c: `rapt info RECIPE`: the model that a run of a recipe would train, and its time and memory; with --cluster
 * also on several machines (info_cluster.c). The run itself makes the plan, and is interrupted before it writes anything. */
#include "cli/cmd_info.h"

#include "base/disk.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/fetch_hint.h"
#include "cli/signals.h"

#include "rapt/train.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct planned {
    rapt_memory_plan plan;
    bool done;
} planned;

static void info_recipe_keep(void *context, const rapt_memory_plan *plan)
{
    planned *p = context;
    p->plan = *plan;
    p->done = true;
}

static bool info_recipe_stop(void *context)
{
    const planned *p = context;
    return p->done || signals_stop(NULL);
}

/* The plan of a run in a temporary folder. A machine with too little memory for the run can also make the plan. */
static rapt_code info_recipe_plan(const info_arguments *a, const rapt_recipe *k, rapt_memory_plan *plan, rapt_error *err)
{
    char *out;
    planned p = {.done = false};
    rapt_error own = {0};
    rapt_code code = file_make_temporary("info", &out, err);
    if (code)
        return code;
    rapt_train_options o = rapt_train_options_default();
    o.recipe = k, o.out = out, o.threads = a->threads, o.stop = info_recipe_stop, o.on_plan = info_recipe_keep, o.context = &p;
    code = rapt_train(&o, &own);
    disk_remove_folder(out);
    free(out);
    *plan = p.plan;
    return p.done ? RAPT_OK : rapt_fail(err, code, "%s", own.message);
}

static rapt_code info_recipe_read(const info_arguments *a, rapt_recipe *k, rapt_error *err)
{
    rapt_code code = a->is_recipe ? rapt_recipe_read(a->model, k, err) : rapt_recipe_load(a->model, k, err);
    for (size_t i = 0; i < a->assignment_count && !code; i++)
        code = rapt_recipe_set(k, a->assignments[i], err);
    cli_point_to_keys(err);
    return code ? code : rapt_recipe_check(k, a->model, err);
}

static json_t *info_recipe_json(const rapt_recipe *k, const rapt_memory_plan *p)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:{s:I, s:I, s:I, s:I}}", "task",
                     k->task == RAPT_TASK_TRANSLATION ? "translation" : "language_model", "parameters",
                     (json_int_t)p->parameter_count, "examples", (json_int_t)p->examples, "empty", (json_int_t)p->empty,
                     "source_vocab", (json_int_t)p->source_vocab, "target_vocab", (json_int_t)p->target_vocab, "step_tokens",
                     p->step_tokens, "memory", "parameters", (json_int_t)p->parameters, "gradients", (json_int_t)p->gradients,
                     "adam", (json_int_t)p->moments, "activations", (json_int_t)p->activations);
}

static void info_recipe_print(const rapt_recipe *k, const rapt_memory_plan *p)
{
    char parameters[32], gradients[32], moments[32], activations[32];
    bool language = k->task == RAPT_TASK_LANGUAGE_MODEL;
    printf("task          %s\n", language ? "language model (decoder-only)" : "translation (encoder-decoder)");
    printf("parameters    %zu\n", p->parameter_count);
    printf("data          %zu %s to train on, %zu for validation\n", p->examples,
           k->data.conversations ? "conversations" : k->data.preferences ? "preferences" : language ? "tokens" : "pairs",
           p->validation_examples);
    if (language || p->shared_vocab)
        printf("vocabulary    %zu\n", p->target_vocab);
    else
        printf("vocabularies  %zu source, %zu target\n", p->source_vocab, p->target_vocab);
    printf("a step        %.0f target tokens\n", p->step_tokens);
    printf("memory        parameters %s, gradients %s, Adam %s, activations and scratch %s\n",
           cli_bytes((double)p->parameters, parameters), cli_bytes((double)p->gradients, gradients),
           cli_bytes((double)p->moments, moments), cli_bytes((double)p->activations, activations));
}

int info_recipe(const info_arguments *a)
{
    rapt_error err = {0};
    rapt_recipe k;
    rapt_memory_plan plan;
    int status = 0;
    signals_catch();
    rapt_code code = info_recipe_read(a, &k, &err);
    if (!code)
        code = info_recipe_plan(a, &k, &plan, &err);
    if (!code && a->network > 0)
        status = info_cluster(a, &k, &plan);
    else if (!code && a->json)
        status = info_print_json(info_recipe_json(&k, &plan));
    else if (!code)
        info_recipe_print(&k, &plan);
    rapt_recipe_free(&k);
    if (code)
        fetch_hint(&err);
    return code ? cli_fail(&err) : status;
}
