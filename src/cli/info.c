/* cli/info.c: `rapt info`: the machine and what rapt makes of it, or a model's sizes. */
#include "cli/cli.h"

#include "base/cpu.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "rapt/io.h"
#include "rapt/tape.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_JSON = 256, KEY_TENSORS };

static const struct argp_option OPTIONS[] = {
    {"json", KEY_JSON, NULL, 0, "Print a JSON object", 0},
    {"tensors", KEY_TENSORS, NULL, 0, "List every parameter of the model with its shape", 0},
    {0}};

typedef struct info_arguments {
    const char *model;
    bool json, tensors;
} info_arguments;

static error_t parse(int key, char *text, struct argp_state *state)
{
    info_arguments *a = state->input;
    switch (key) {
    case KEY_JSON: a->json = true; return 0;
    case KEY_TENSORS: a->tensors = true; return 0;
    case ARGP_KEY_ARG:
        if (a->model)
            argp_error(state, "one model only");
        a->model = text;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = parse, .args_doc = "[MODEL]",
                                 .doc = "Show this machine and the kernels that rapt chose, or a model's sizes."};

/* The levels that this machine has, best last. */
static json_t *levels_json(void)
{
    json_t *levels = json_array();
    for (const char *const *name = kernels_names; levels && *name; name++)
        if (kernels_level(*name, NULL))
            json_array_append_new(levels, json_string(*name));
    return levels;
}

static int print_json(json_t *o)
{
    rapt_error err = {0};
    char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    json_decref(o);
    if (!text) {
        rapt_fail(&err, RAPT_NO_MEMORY, "no memory for JSON");
        return cli_fail(&err);
    }
    puts(text);
    free(text);
    return 0;
}

static int machine_json(const cpu_features *cpu, const kernels *k, int threads)
{
    return print_json(json_pack("{s:s, s:s, s:i, s:s, s:[i,i], s:o}", "version", rapt_version(), "cpu", cpu->brand,
                                "threads", threads, "isa", k->name, "gemm_tile", k->mr, k->nr, "levels", levels_json()));
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
    printf("threads   %d (RAPT_THREADS or --threads changes it, never the result)\n", count);
    printf("isa       %s, of", k->name);
    for (const char *const *name = kernels_names; *name; name++)
        printf(" %s%s", *name, kernels_level(*name, NULL) ? "" : " (not on this machine)");
    printf(" (RAPT_ISA lowers it)\n");
    printf("gemm      tiles of %d x %d, blocks of %d products\n", k->mr, k->nr, KERNELS_K_BLOCK);
    printf("bf16      avx512_bf16 %s, amx %s (this version computes in fp32)\n", cpu.avx512_bf16 ? "yes" : "no",
           cpu.amx_bf16 ? "yes" : "no");
    return 0;
}

static void list_tensors(const rapt_params *set)
{
    char shape[96];
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        printf("%-44s %s%s\n", p->value.name, rapt_shape_text(&p->value, shape, sizeof shape),
               p->buffer ? "  (buffer)" : "");
    }
}

static json_t *tensor_json(const rapt_param *p)
{
    json_t *shape = json_array();
    for (int i = 0; shape && i < p->value.ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)p->value.shape[i]));
    return json_pack("{s:s, s:o, s:b}", "name", p->value.name, "shape", shape, "buffer", p->buffer);
}

/* NULL, which "s:o*" leaves out, where no list is wanted. */
static json_t *tensors_json(const rapt_params *set, bool wanted)
{
    json_t *list = wanted ? json_array() : NULL;
    for (size_t i = 0; list && i < rapt_params_count(set); i++)
        json_array_append_new(list, tensor_json(rapt_params_at(set, i)));
    return list;
}

static int model_json(const rapt_model *m, bool tensors)
{
    const rapt_transformer_config *c = &m->net->config;
    return print_json(json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:o*}", "task", "translation",
                                "parameters", (json_int_t)rapt_params_size(m->net->params),
                                "layers", (json_int_t)c->layers, "d_model", (json_int_t)c->block.d_model,
                                "heads", (json_int_t)c->block.heads, "ffn", (json_int_t)c->block.ffn,
                                "source_vocab", (json_int_t)c->source_vocab, "target_vocab", (json_int_t)c->target_vocab,
                                "norm", c->block.norm == RAPT_PRE_NORM ? "pre" : "post", "tied", c->tied,
                                "tensors", tensors_json(m->net->params, tensors)));
}

static void print_model(const rapt_model *m)
{
    char bytes[32];
    const rapt_transformer_config *c = &m->net->config;
    size_t size = rapt_params_size(m->net->params);
    printf("task          translation (encoder-decoder)\n");
    printf("parameters    %zu (%s)\n", size, cli_bytes((double)(size * sizeof(rapt_real)), bytes));
    printf("blocks        %zu encoder, %zu decoder, %s-norm\n", c->layers, c->layers,
           c->block.norm == RAPT_PRE_NORM ? "pre" : "post");
    printf("d_model       %zu, %zu heads, ffn %zu\n", c->block.d_model, c->block.heads, c->block.ffn);
    printf("vocabularies  %zu source, %zu target words%s\n", c->source_vocab, c->target_vocab,
           c->tied ? ", embeddings and output tied" : "");
    printf("sentences     up to %zu tokens, %zu positions\n", m->max_len, c->max_positions);
    printf("memory        a decoding step keeps %s a sentence and token\n",
           cli_bytes((double)(2 * c->layers * c->block.d_model * sizeof(rapt_real)), bytes));
}

static int show_model(const info_arguments *a)
{
    rapt_error err = {0};
    rapt_model *m = rapt_model_load(a->model, &err);
    if (!m)
        return cli_fail(&err);
    int status = 0;
    if (a->json)
        status = model_json(m, a->tensors);
    else
        print_model(m);
    if (a->tensors && !a->json)
        list_tensors(m->net->params);
    rapt_model_free(m);
    return status;
}

int cmd_info(int argc, char **argv)
{
    info_arguments a = {0};
    argp_parse(&ARGP, argc, argv, 0, NULL, &a);
    return a.model ? show_model(&a) : show_machine(&a);
}
