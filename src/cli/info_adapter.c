/* cli/info_adapter.c: `rapt info` for a folder of low-rank adapters: their model, their modules and their size. For cmd_info.c.
 * The model is not read. */
#include "cli/cmd_info.h"

#include "base/file.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "io/adapter/adapter.h"

#include <stdio.h>
#include <string.h>

bool info_adapter_is(const char *path)
{
    bool adapters, model;
    return file_is_in(path, ADAPTER_CONFIG, &adapters, NULL) == RAPT_OK && adapters &&
           (file_is_in(path, "config.json", &model, NULL) != RAPT_OK || !model);
}

static size_t layer_parameters(const adapter_layer *l)
{
    return l->whole ? l->out * l->in : l->rank * (l->in + l->out) + l->magnitudes;
}

static size_t adapter_parameters(const adapter *a)
{
    size_t sum = 0;
    for (size_t i = 0; i < adapter_count(a); i++)
        sum += layer_parameters(adapter_at(a, i));
    return sum;
}

/* ---- as JSON ---------------------------------------------------------------------------------------------- */

static json_t *modules_json(const adapter *a)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < adapter_count(a); i++) {
        const adapter_layer *l = adapter_at(a, i);
        json_t *one = json_pack("{s:s, s:I, s:I}", "name", quote(l->module).text, "in", (json_int_t)l->in, "out",
                                (json_int_t)l->out);
        if (one && l->whole)
            json_object_set_new(one, "whole", json_true());
        else if (one)
            json_object_update_new(one, json_pack("{s:I, s:f}", "rank", (json_int_t)l->rank, "alpha", l->alpha));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *adapter_json(const adapter *a)
{
    const adapter_layer *first = adapter_first(a);
    return json_pack("{s:s, s:s, s:I, s:f, s:b, s:b, s:I, s:o}", "adapter", "LORA", "base", quote(adapter_base(a)).text, "rank",
                     (json_int_t)first->rank, "alpha", first->alpha, "rslora", adapter_is_stable(a), "dora",
                     first->magnitude != NULL, "parameters", (json_int_t)adapter_parameters(a), "modules", modules_json(a));
}

/* ---- as text ---------------------------------------------------------------------------------------------- */

static const char *module_end(const char *module)
{
    const char *dot = strrchr(module, '.');
    return dot ? dot + 1 : module;
}

/* The ends of the modules' names, each once, with how many there are. */
static void print_modules(const adapter *a)
{
    printf("modules       %zu:", adapter_count(a));
    for (size_t i = 0; i < adapter_count(a); i++) {
        const char *name = module_end(adapter_at(a, i)->module);
        size_t before = 0, all = 0;
        for (size_t k = 0; k < adapter_count(a); k++) {
            const bool same = strcmp(module_end(adapter_at(a, k)->module), name) == 0;
            before += same && k < i;
            all += same;
        }
        if (before == 0)
            printf("%s %zu %s", i > 0 ? "," : "", all, quote(name).text);
    }
    puts("");
}

/* With rank_pattern or alpha_pattern, modules differ. */
static void print_ranks(const adapter *a)
{
    const adapter_layer *first = adapter_first(a);
    const char *const root[] = {"", "the root of "}, *dora = first->magnitude ? ", with magnitudes (DoRA)" : "";
    size_t least = first->rank, most = first->rank;
    bool one = true;
    for (size_t i = 0; i < adapter_count(a); i++) {
        const adapter_layer *l = adapter_at(a, i);
        if (l->whole)
            continue;
        least = l->rank < least ? l->rank : least;
        most = l->rank > most ? l->rank : most;
        one = one && l->rank == first->rank && l->alpha == first->alpha;
    }
    if (one)
        printf("adapters      low-rank (LoRA), of rank %zu, times %g / %s%zu%s\n", first->rank, first->alpha,
               root[adapter_is_stable(a)], first->rank, dora);
    else
        printf("adapters      low-rank (LoRA), of ranks %zu to %zu, times alpha / %sthe rank%s\n", least, most,
               root[adapter_is_stable(a)], dora);
}

static void print_adapter(const adapter *a, bool tensors)
{
    char bytes[32];
    const size_t parameters = adapter_parameters(a);
    print_ranks(a);
    printf("base          %s\n", *adapter_base(a) ? quote(adapter_base(a)).text : "not stated in " ADAPTER_CONFIG);
    print_modules(a);
    printf("parameters    %zu (%s in fp32)\n", parameters, cli_bytes((double)(parameters * sizeof(float)), bytes));
    for (size_t i = 0; tensors && i < adapter_count(a); i++) {
        const adapter_layer *l = adapter_at(a, i);
        if (l->whole)
            printf("%-60s whole [%zu, %zu]\n", quote(l->module).text, l->out, l->in);
        else
            printf("%-60s A [%zu, %zu], B [%zu, %zu]\n", quote(l->module).text, l->rank, l->in, l->out, l->rank);
    }
}

int info_adapter(const info_arguments *a)
{
    rapt_error err = {0};
    adapter *found;
    int status = 0;
    if (adapter_open(a->model, &found, &err) != RAPT_OK)
        return cli_fail(&err);
    if (a->json)
        status = info_print_json(adapter_json(found));
    else
        print_adapter(found, a->tensors);
    adapter_close(found);
    return status;
}
