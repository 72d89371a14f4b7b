/* cli/cmd_info.c: `rapt info`: the machine and how rapt uses it. A model's sizes are in info_model.c, its
 * tensors in info_tensor.c, other programs' models in info_weights.c, adapters in info_adapter.c, a recipe's run in
 * info_recipe.c. */
#include "cli/cmd_info.h"

#include "base/cpu.h"
#include "base/disk.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/group/cli_group.h"
#include "kernels/kernels.h"
#include "rapt/io.h"
#include "text/gguf/gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number, possibly with the suffix K, M, G or T. */
static void take_rate(const cli_option *o, void *in, const char *text)
{
    static const char units[] = "kKMGT";
    static const double factors[] = {1e3, 1e3, 1e6, 1e9, 1e12};
    size_t length = strlen(text);
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    char *end;
    double x = strtod(text, &end) * (unit ? factors[unit - units] : 1);
    if (end != text + length - (unit ? 1 : 0) || !(x >= 1e3 && x <= 1e18))
        usage_error("--%s: '%s' is not a rate from 1K to 1000000T, such as 10G", o->name, text);
    *(double *)((char *)in + o->field) = x;
}

#define ARGUMENTS info_arguments
static const cli_option OPTIONS[] = {
    OPTION_FLAG("json", AT(json), "Print a JSON object"),
    OPTION_FLAG("tensors", AT(tensors), "List every parameter and buffer of the model with its shape"),
    OPTION_TEXT("tensor", "NAME", AT(tensor), "Print the elements of this parameter or buffer, as PyTorch prints a tensor",
                .not_with = "tensors"),
    OPTION_FLAG("full", AT(full), "With --tensor: all elements, where more than 1000 would be summarized", .needs = "tensor"),
    OPTION_FLAG("table", AT(table), "With --tensor: a table with row and column numbers, as pandas prints it", .needs = "tensor",
                .not_with = "json"),
    OPTION_FLAG("seal", AT(seal), "Seal a model folder: renew the checksums that bind its files, after a deliberate edit"),
    OPTION_VALUE(OPTION_KIND_TAKE, "cluster", "RATE", AT(network), "How many machines pay off for the recipe on a network of "
                 "RATE bit/s, such as 10G", .take = take_rate),
    OPTION_VALUE(OPTION_KIND_TAKE, "flops", "F", AT(flops), "With --cluster: what a machine computes, such as 2T flop/s "
                 "(default: as this one)", .take = take_rate, .needs = "cluster"),
    CLI_OPTION_SET(AT(assignments), AT(assignment_count), INFO_ASSIGNMENTS),
    CLI_OPTION_THREADS(AT(threads)),
    {0}};

/* Refuses options that exclude each other, and options without the thing that they apply to. */
static void cmd_info_finish(void *arguments)
{
    info_arguments *a = arguments;
    disk_entry there;
    const bool of_model = a->tensor || a->tensors || a->seal;
    cli_check_assignments(a->assignments, a->assignment_count);
    a->is_foreign = a->model && info_weights_is_foreign(a->model);
    a->is_adapter = a->model && info_adapter_is(a->model);
    a->is_recipe = a->model && !a->is_foreign && disk_look(a->model, &there) && there.kind != DISK_FOLDER;
    if (a->seal && !a->model)
        usage_error("missing operand: --seal needs MODEL");
    if (a->tensor && !a->model)
        usage_error("missing operand: --tensor needs MODEL");
    if (a->network > 0 && !a->model)
        usage_error("missing operand: --cluster needs RECIPE.yaml");
    if (of_model && (a->is_recipe || a->network > 0))
        usage_error("--tensors, --tensor and --seal are for a model, not for a recipe or --cluster");
    if ((a->is_foreign || a->is_adapter) && (a->seal || a->network > 0))
        usage_error("--seal and --cluster are for models of rapt, not for %s",
                    a->is_adapter ? "adapters" : "those of other programs");
    if (a->tensor && disk_look(a->model, &there) && there.kind != DISK_FOLDER && !gguf_is_file(a->model))
        usage_error("--tensor is for a folder or a GGUF file, not for another file of tensors");
    if (a->assignment_count > 0 && !a->is_recipe && a->network == 0)
        usage_error("--set is for a recipe");
}

const cli_command info_command = {
    .options = OPTIONS, .operands = "[MODEL]\nFILE\nRECIPE.yaml",
    .about = "Print this machine (CPU, ISA, memory) and the kernels in use, a model's sizes, what is in a Hugging Face folder, a "
             "GGUF file, a file of tensors or a folder of adapters, or what training from a recipe takes: on this machine, and "
             "with --cluster on several.",
    .most = 1, .takes = "one model or recipe", .operand = {AT(model)}, .finish = cmd_info_finish};

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
    return info_print_json(json_pack("{s:s, s:s, s:i, s:i, s:s, s:[i,i], s:o, s:o, s:o, s:o}", "version", rapt_version(),
                                     "cpu", cpu->brand, "cpus", pool_cpus(""), "threads", threads, "isa", k->name,
                                     "gemm_tile", k->gemm.mr, k->gemm.nr, "levels", levels_json(true),
                                     "levels_missing", levels_json(false), "mpi", mpis_json(), "libraries",
                                     info_libraries_json()));
}

/* CPUs and memory that the system grants this process. */
static void show_limits(void)
{
    char text[32];
    memory_limit limits[MEMORY_LIMITS];
    int cpus = pool_cpus("");
    bool any = false;
    memory_limits("", limits);
    printf("cpus      %d for this process%s\n", cpus, process_quota("") == cpus ? ", as its cgroup's quota has it" : "");
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
    info_show_libraries();
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
    options_parse(&info_command, argc, argv, &a);
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
