/* cli/info_recipe.c: `rapt info RECIPE`: the model that a run of a recipe would train, and its time and memory; with --cluster
 * also on several machines (info_cluster.c). The run itself makes the plan, and is interrupted before it writes anything. */
#include "cli/cmd_info.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/corpus_text.h"
#include "cli/fetch_hint.h"
#include "cli/say.h"
#include "cli/signals.h"

#include "data/corpus.h"

#include "rapt/train.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct planned {
    rapt_memory_plan plan;
    rapt_corpus *corpora; /* a copy: the run's end with it */
    rapt_left_out *left_out;
    char **paths;
    bool done, lost; /* lost: out of memory */
} planned;

static void info_recipe_keep_corpora(planned *p)
{
    const size_t count = p->plan.corpus_count;
    size_t rules = 0;
    p->corpora = calloc(count + 1, sizeof *p->corpora);
    p->paths = calloc(count + 1, sizeof *p->paths);
    for (size_t i = 0; i < count; i++)
        rules += p->plan.corpora[i].rule_count;
    p->left_out = calloc(rules + 1, sizeof *p->left_out);
    p->lost = !p->corpora || !p->paths || !p->left_out;
    rules = 0;
    for (size_t i = 0; i < count && !p->lost; i++) {
        p->corpora[i] = p->plan.corpora[i];
        p->corpora[i].left_out = p->left_out + rules;
        for (size_t k = 0; k < p->corpora[i].rule_count; k++)
            p->left_out[rules++] = p->plan.corpora[i].left_out[k];
        p->corpora[i].path = p->paths[i] = chars_copy(p->plan.corpora[i].path);
        p->lost = !p->paths[i];
    }
    p->plan.corpora = p->corpora;
}

static void info_recipe_keep(void *context, const rapt_memory_plan *plan)
{
    planned *p = context;
    p->plan = *plan;
    info_recipe_keep_corpora(p);
    p->done = true;
}

static void info_recipe_free(planned *p)
{
    for (size_t i = 0; p->paths && i < p->plan.corpus_count; i++)
        free(p->paths[i]);
    free(p->paths);
    free(p->left_out);
    free(p->corpora);
}

static bool info_recipe_stop(void *context)
{
    const planned *p = context;
    return p->done || signals_stop(NULL);
}

/* The plan of a run in a temporary folder. A machine with too little memory for the run can also make the plan. */
static rapt_code info_recipe_plan(const info_arguments *a, const rapt_recipe *k, planned *p, rapt_error *err)
{
    char *out;
    rapt_error own = {0};
    rapt_code code = file_make_temporary("info", &out, err);
    if (code)
        return code;
    rapt_train_options o = rapt_train_options_default();
    o.recipe = k, o.out = out, o.threads = a->threads, o.stop = info_recipe_stop, o.on_plan = info_recipe_keep, o.context = p;
    code = rapt_train(&o, &own);
    disk_remove_folder(out);
    free(out);
    if (p->lost)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a list of corpora");
    return p->done ? RAPT_OK : rapt_fail(err, code, "%s", own.message);
}

static rapt_code info_recipe_read(const info_arguments *a, rapt_recipe *k, rapt_error *err)
{
    rapt_code code = a->is_recipe ? rapt_recipe_read(a->model, k, err) : rapt_recipe_load(a->model, k, err);
    for (size_t i = 0; i < a->assignment_count && !code; i++)
        code = rapt_recipe_set(k, a->assignments[i], err);
    cli_point_to_keys(err);
    return code ? code : rapt_recipe_check(k, a->model, err);
}

/* The corpora of data.pairs; NULL: there are none, or out of memory. */
static json_t *info_recipe_corpora(const rapt_memory_plan *p)
{
    json_t *list = p->corpus_count ? json_array() : NULL;
    for (size_t i = 0; i < p->corpus_count && list; i++) {
        const rapt_corpus *c = &p->corpora[i];
        json_t *rules = c->rule_count ? json_object() : NULL;
        for (size_t k = 0; k < c->rule_count && rules; k++)
            json_object_set_new(rules, c->left_out[k].rule, json_integer((json_int_t)c->left_out[k].lines));
        json_array_append_new(list, json_pack("{s:s, s:f, s:I, s:I, s:o*}", "path", c->path, "weight", c->weight, "pairs",
                                              (json_int_t)c->pairs, "pass", (json_int_t)c->pass, "left_out", rules));
    }
    return list;
}

static json_t *info_recipe_json(const rapt_recipe *k, const rapt_memory_plan *p)
{
    return json_pack("{s:s, s:I, s:I, s:o*, s:I, s:I, s:I, s:f, s:{s:I, s:I, s:I, s:I, s:I}}", "task",
                     k->task == RAPT_TASK_TRANSLATION ? "translation" : "language_model", "parameters",
                     (json_int_t)p->parameter_count, "examples", (json_int_t)p->examples, "corpora", info_recipe_corpora(p),
                     "empty", (json_int_t)p->empty, "source_vocab", (json_int_t)p->source_vocab, "target_vocab",
                     (json_int_t)p->target_vocab, "step_tokens", p->step_tokens, "memory", "parameters",
                     (json_int_t)p->parameters, "gradients", (json_int_t)p->gradients, "adam", (json_int_t)p->moments,
                     "activations", (json_int_t)p->activations, "batches", (json_int_t)p->batches);
}

static void info_recipe_print_corpora(const rapt_memory_plan *p)
{
    char text[CORPUS_FILTER_TEXT];
    for (size_t i = 0; i < p->corpus_count; i++) {
        const rapt_corpus *c = &p->corpora[i];
        if (c->rule_count > 0) {
            printf("filter        ");
            cli_print_clean(stdout, corpus_name(c->path));
            printf(": %s\n", corpus_filter_text(c, text));
        }
        if (p->corpus_count == 1 && c->weight == 1)
            continue;
        printf("corpus        ");
        cli_print_clean(stdout, corpus_name(c->path));
        printf(": %zu pairs, weight %g: %zu in an epoch\n", c->pairs, c->weight, c->pass);
    }
}

static void info_recipe_print(const rapt_recipe *k, const rapt_memory_plan *p)
{
    char parameters[32], gradients[32], moments[32], activations[32], batches[CLI_BATCHES];
    bool language = k->task == RAPT_TASK_LANGUAGE_MODEL;
    printf("task          %s\n", language ? "language model (decoder-only)" : "translation (encoder-decoder)");
    printf("parameters    %zu\n", p->parameter_count);
    printf("data          %zu %s to train on, %zu for validation\n", p->examples,
           k->data.conversations ? "conversations" : k->data.preferences ? "preferences" : language ? "tokens" : "pairs",
           p->validation_examples);
    info_recipe_print_corpora(p);
    if (language || p->shared_vocab)
        printf("vocabulary    %zu\n", p->target_vocab);
    else
        printf("vocabularies  %zu source, %zu target\n", p->source_vocab, p->target_vocab);
    printf("a step        %.0f target tokens\n", p->step_tokens);
    printf("memory        parameters %s, gradients %s, Adam %s, activations and scratch %s%s\n",
           cli_bytes((double)p->parameters, parameters), cli_bytes((double)p->gradients, gradients),
           cli_bytes((double)p->moments, moments), cli_bytes((double)p->activations, activations),
           cli_batches(p->batches, batches));
}

int info_recipe(const info_arguments *a)
{
    rapt_error err = {0};
    rapt_recipe k;
    planned p = {.done = false};
    int status = 0;
    signals_catch();
    rapt_code code = info_recipe_read(a, &k, &err);
    if (!code)
        code = info_recipe_plan(a, &k, &p, &err);
    if (!code && a->network > 0)
        status = info_cluster(a, &k, &p.plan);
    else if (!code && a->json)
        status = info_print_json(info_recipe_json(&k, &p.plan));
    else if (!code)
        info_recipe_print(&k, &p.plan);
    info_recipe_free(&p);
    rapt_recipe_free(&k);
    if (code)
        fetch_hint(&err);
    return code ? cli_fail(&err) : status;
}
