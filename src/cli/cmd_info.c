/* cli/cmd_info.c: `rapt info`: the machine and how rapt uses it. A model's sizes are in info_model.c, its
 * tensors in info_tensor.c. */
#include "cli/cmd_info.h"

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli/cli.h"
#include "kernels/kernels.h"
#include "rapt/io.h"

#include <stdio.h>

enum { KEY_TENSORS = 256, KEY_TENSOR, KEY_FULL, KEY_TABLE, KEY_SEAL };

static const struct argp_option OPTIONS[] = {
    CLI_OPTION_JSON("Print a JSON object"),
    {"tensors", KEY_TENSORS, NULL, 0, "List every parameter and buffer of the model with its shape", 0},
    {"tensor", KEY_TENSOR, "NAME", 0, "Print the elements of this parameter or buffer, as PyTorch prints a tensor", 0},
    {"full", KEY_FULL, NULL, 0, "With --tensor: all elements, where more than 1000 would be summarized", 0},
    {"table", KEY_TABLE, NULL, 0, "With --tensor: a table with row and column numbers, as pandas prints it", 0},
    {"seal", KEY_SEAL, NULL, 0, "Seal a model folder: renew the checksums that bind its files, after a deliberate edit", 0},
    {0}};

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
    case ARGP_KEY_ARG: cli_operand(&a->model, text, "one model", state); return 0;
    case ARGP_KEY_END:
        if (a->seal && !a->model)
            cli_usage_error(state, "missing operand: --seal needs MODEL");
        if (a->tensor && !a->model)
            cli_usage_error(state, "missing operand: --tensor needs MODEL");
        if ((a->full || a->table) && !a->tensor)
            cli_usage_error(state, "%s is for --tensor NAME", a->full ? "--full" : "--table");
        if (a->tensor && (a->tensors || (a->table && a->json)))
            cli_usage_error(state, "%s, not both", a->tensors ? "--tensor or --tensors" : "--table or --json");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = cmd_info_parse, .args_doc = "[MODEL]",
                                 .doc = "Print this machine (CPU, ISA, memory) and the kernels in use, or a model's sizes."};

/* The ISAs that this machine supports, best last. */
static json_t *levels_json(void)
{
    json_t *levels = json_array();
    for (const char *const *name = kernels_names; levels && *name; name++)
        if (kernels_of_isa(*name, NULL))
            json_array_append_new(levels, json_string(*name));
    return levels;
}

static int machine_json(const cpu_features *cpu, const kernels *k, int threads)
{
    return info_print_json(json_pack("{s:s, s:s, s:i, s:i, s:s, s:[i,i], s:o}", "version", rapt_version(), "cpu", cpu->brand,
                                     "cpus", pool_cpus(""), "threads", threads, "isa", k->name, "gemm_tile", k->gemm.mr,
                                     k->gemm.nr, "levels", levels_json()));
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
    pool *threads = k ? pool_new(0, &err) : NULL;
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
    return 0;
}

int cmd_info(int argc, char **argv)
{
    info_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    if (a.seal && rapt_model_seal(a.model, &err))
        return cli_fail(&err);
    if (a.tensor)
        return info_tensor(&a);
    return a.model ? info_model(&a) : show_machine(&a);
}
