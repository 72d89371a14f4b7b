/* cli/cmd_info.c: `rapt info`: the machine and how rapt uses it. A model's sizes are in info_model.c, its
 * tensors in info_tensor.c, other programs' models in info_weights.c, adapters in info_adapter.c, a recipe's run in
 * info_recipe.c. */
#define _GNU_SOURCE
#include "cli/cmd_info.h"

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli/cli.h"
#include "cli/group/cli_group.h"
#include "kernels/kernels.h"
#include "rapt/io.h"
#include "text/gguf/gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_SET = 's', KEY_TENSORS = 256, KEY_TENSOR, KEY_FULL, KEY_TABLE, KEY_SEAL, KEY_CLUSTER, KEY_FLOPS };

static const struct argp_option OPTIONS[] = {
    CLI_OPTION_JSON("Print a JSON object"),
    {"tensors", KEY_TENSORS, NULL, 0, "List every parameter and buffer of the model with its shape", 0},
    {"tensor", KEY_TENSOR, "NAME", 0, "Print the elements of this parameter or buffer, as PyTorch prints a tensor", 0},
    {"full", KEY_FULL, NULL, 0, "With --tensor: all elements, where more than 1000 would be summarized", 0},
    {"table", KEY_TABLE, NULL, 0, "With --tensor: a table with row and column numbers, as pandas prints it", 0},
    {"seal", KEY_SEAL, NULL, 0, "Seal a model folder: renew the checksums that bind its files, after a deliberate edit", 0},
    {"cluster", KEY_CLUSTER, "RATE", 0, "How many machines pay off for the recipe on a network of RATE bit/s, such as 10G", 0},
    {"flops", KEY_FLOPS, "F", 0, "With --cluster: what a machine computes, such as 2T flop/s (default: as this one)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "Overrides a key of the recipe; can be repeated", 0},
    CLI_OPTION_THREADS,
    {0}};

/* A number, possibly with the suffix K, M, G or T. */
static double info_rate(const char *text, const char *option, struct argp_state *state)
{
    static const char units[] = "kKMGT";
    static const double factors[] = {1e3, 1e3, 1e6, 1e9, 1e12};
    size_t length = strlen(text);
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    char *end;
    double x = strtod(text, &end) * (unit ? factors[unit - units] : 1);
    if (end != text + length - (unit ? 1 : 0) || !(x >= 1e3 && x <= 1e18))
        cli_usage_error(state, "--%s: '%s' is not a rate from 1K to 1000000T, such as 10G", option, text);
    return x;
}

static void info_take_assignment(info_arguments *a, const char *text, struct argp_state *state)
{
    if (a->assignment_count == INFO_ASSIGNMENTS)
        cli_usage_error(state, "more than %d --set", INFO_ASSIGNMENTS);
    a->assignments[a->assignment_count++] = cli_assignment(text, state);
}

/* Refuses options that exclude each other, and options without the thing that they apply to. */
static void info_check(info_arguments *a, struct argp_state *state)
{
    struct stat there;
    const bool of_model = a->tensor || a->tensors || a->seal;
    a->is_foreign = a->model && info_weights_is_foreign(a->model);
    a->is_adapter = a->model && info_adapter_is(a->model);
    a->is_recipe = a->model && !a->is_foreign && stat(a->model, &there) == 0 && !S_ISDIR(there.st_mode);
    if (a->seal && !a->model)
        cli_usage_error(state, "missing operand: --seal needs MODEL");
    if (a->tensor && !a->model)
        cli_usage_error(state, "missing operand: --tensor needs MODEL");
    if ((a->full || a->table) && !a->tensor)
        cli_usage_error(state, "%s is for --tensor NAME", a->full ? "--full" : "--table");
    if (a->tensor && (a->tensors || (a->table && a->json)))
        cli_usage_error(state, "%s, not both", a->tensors ? "--tensor or --tensors" : "--table or --json");
    if (a->network > 0 && !a->model)
        cli_usage_error(state, "missing operand: --cluster needs RECIPE.yaml");
    if (of_model && (a->is_recipe || a->network > 0))
        cli_usage_error(state, "--tensors, --tensor and --seal are for a model, not for a recipe or --cluster");
    if ((a->is_foreign || a->is_adapter) && (a->seal || a->network > 0))
        cli_usage_error(state, "--seal and --cluster are for models of rapt, not for %s",
                        a->is_adapter ? "adapters" : "those of other programs");
    if (a->tensor && stat(a->model, &there) == 0 && !S_ISDIR(there.st_mode) && !gguf_is_file(a->model))
        cli_usage_error(state, "--tensor is for a folder or a GGUF file, not for another file of tensors");
    if (a->flops > 0 && a->network == 0)
        cli_usage_error(state, "--flops is for --cluster RATE");
    if (a->assignment_count > 0 && !a->is_recipe && a->network == 0)
        cli_usage_error(state, "--set is for a recipe");
}

static error_t cmd_info_parse(int key, char *text, struct argp_state *state)
{
    info_arguments *a = state->input;
    switch (key) {
    case CLI_KEY_JSON: a->json = true; return 0;
    case KEY_TENSORS: a->tensors = true; return 0;
    case KEY_TENSOR: a->tensor = text; return 0;
    case KEY_FULL: a->full = true; return 0;
    case KEY_TABLE: a->table = true; return 0;
    case KEY_SEAL: a->seal = true; return 0;
    case KEY_CLUSTER: a->network = info_rate(text, "cluster", state); return 0;
    case KEY_FLOPS: a->flops = info_rate(text, "flops", state); return 0;
    case KEY_SET: info_take_assignment(a, text, state); return 0;
    case CLI_KEY_THREADS: a->threads = cli_threads(text, state); return 0;
    case ARGP_KEY_ARG: cli_operand(&a->model, text, "one model or recipe", state); return 0;
    case ARGP_KEY_END: info_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = cmd_info_parse, .args_doc = "[MODEL]\nFILE\nRECIPE.yaml",
                                 .doc = "Print this machine (CPU, ISA, memory) and the kernels in use, a model's sizes, what is "
                                        "in a Hugging Face folder, a GGUF file, a file of tensors or a folder of adapters, or "
                                        "what training from a recipe takes: on this machine, and with --cluster on several."};

/* The ISAs of this build that this machine supports, best last; or those that it lacks. */
static json_t *levels_json(bool supported)
{
    json_t *levels = json_array();
    for (const char *const *name = kernels_names; levels && *name; name++)
        if (!kernels_of_isa(*name, NULL) != supported)
            json_array_append_new(levels, json_string(*name));
    return levels;
}

static json_t *mpis_json(void)
{
    const char *names[CLI_GROUP_MPIS];
    json_t *mpis = json_array();
    for (int i = 0, count = cli_group_list(names); mpis && i < count; i++)
        json_array_append_new(mpis, json_string(names[i]));
    return mpis;
}

static void show_mpis(void)
{
    const char *names[CLI_GROUP_MPIS];
    int count = cli_group_list(names);
    printf("mpi       ");
    for (int i = 0; i < count; i++)
        printf("%s%s", i > 0 ? ", " : "", names[i]);
    puts(count > 0 ? ": `mpirun -n 4 rapt train` trains in 4 processes" : "none: rapt trains in one process");
}

static int machine_json(const cpu_features *cpu, const kernels *k, int threads)
{
    return info_print_json(json_pack("{s:s, s:s, s:i, s:i, s:s, s:[i,i], s:o, s:o, s:o}", "version", rapt_version(),
                                     "cpu", cpu->brand, "cpus", pool_cpus(""), "threads", threads, "isa", k->name,
                                     "gemm_tile", k->gemm.mr, k->gemm.nr, "levels", levels_json(true),
                                     "levels_missing", levels_json(false), "mpi", mpis_json()));
}

/* CPUs and memory that the system grants this process. */
static void show_limits(void)
{
    char text[32];
    memory_limit limits[MEMORY_LIMITS];
    int cpus = pool_cpus("");
    bool any = false;
    memory_limits("", limits);
    printf("cpus      %d for this process%s\n", cpus, cgroup_cpus("") == cpus ? ", as its cgroup's quota has it" : "");
    printf("memory    ");
    for (int i = 0; i < MEMORY_LIMITS; i++) {
        if (limits[i].available == SIZE_MAX)
            continue;
        printf("%s%s %s", any ? "; " : "", limits[i].says, cli_bytes((double)limits[i].available, text));
        any = true;
    }
    puts(any ? "" : "without a limit");
}

static int show_machine(const info_arguments *a)
{
    rapt_error err = {0};
    cpu_features cpu = cpu_detect();
    const kernels *k = kernels_active(&err);
    pool *threads = k ? pool_new(a->threads, &err) : NULL;
    if (!threads)
        return cli_fail(&err);
    int count = pool_threads(threads);
    pool_free(threads);
    if (a->json)
        return machine_json(&cpu, k, count);
    printf("rapt      %s\n", rapt_version());
    printf("cpu       %s\n", cpu.brand[0] ? cpu.brand : "unknown");
    show_limits();
    printf("threads   %d (RAPT_THREADS or --threads changes it, never the result)\n", count);
    printf("isa       %s, of", k->name);
    for (const char *const *name = kernels_names; *name; name++)
        printf(" %s%s", *name, kernels_of_isa(*name, NULL) ? "" : " (not on this machine)");
    printf(" (RAPT_ISA lowers it)\n");
    printf("gemm      tiles of %d x %d, k in blocks of %d\n", k->gemm.mr, k->gemm.nr, KERNELS_K_BLOCK);
    printf("bf16      tiles of %d x %d, %s\n", k->bf16->mr, k->bf16->nr, k->bf16->name);
    show_mpis();
    return 0;
}

/* Whether a path names a JSON file of a folder, not a recipe. */
static bool info_is_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".json") == 0;
}

int cmd_info(int argc, char **argv)
{
    info_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    if (a.is_foreign && !a.tensor)
        return info_weights(&a);
    if (a.is_adapter && !a.tensor)
        return info_adapter(&a);
    if (a.seal && rapt_model_seal(a.model, &err))
        return cli_fail(&err);
    if (a.tensor)
        return info_tensor(&a);
    if (a.is_recipe && info_is_json(a.model)) {
        rapt_fail(&err, RAPT_ERR_VALUE, "%s: not a recipe, but JSON; `rapt info` takes the folder of a model, and `rapt "
                  "tokenizer info` its tokenizer.json", a.model);
        return cli_fail(&err);
    }
    if (a.is_recipe || a.network > 0)
        return info_recipe(&a);
    return a.model ? info_model(&a) : show_machine(&a);
}
