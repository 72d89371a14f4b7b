/* cli/cmd_convert.c: `rapt convert`: a model for other programs. The work is rapt_model_export's. */
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/signals.h"

#include <string.h>

enum { KEY_TO = 't', KEY_OUT = 'o', KEY_MERGE = 256 };

static const struct argp_option OPTIONS[] = {
    {"to", KEY_TO, "FORMAT", 0, "Format to write: hf, a Hugging Face folder for transformers, or ctranslate2", 0},
    {"merge", KEY_MERGE, "ADAPTER", 0, "Write the model with the low-rank adapters (LoRA) of a folder added to its matrices", 0},
    {"out", KEY_OUT, "DIR", 0, "Folder to write, which must not exist", 0},
    {0}};

typedef struct convert_arguments {
    const char *model, *out, *merge;
    int to; /* of rapt_export_format; -1: not given */
} convert_arguments;

static int convert_format(const char *name, struct argp_state *state)
{
    static const char *const names[] = {[RAPT_EXPORT_HF] = "hf", [RAPT_EXPORT_CTRANSLATE2] = "ctranslate2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    cli_usage_error(state, "--to: '%s' is neither hf nor ctranslate2", name);
}

static void convert_check(const convert_arguments *a, struct argp_state *state)
{
    if (!a->model)
        cli_usage_error(state, "missing operand: MODEL, a model folder");
    if (a->to < 0)
        cli_usage_error(state, "missing option: --to FORMAT");
    if (!a->out || !*a->out)
        cli_usage_error(state, "missing option: --out DIR");
}

static error_t cmd_convert_parse(int key, char *text, struct argp_state *state)
{
    convert_arguments *a = state->input;
    switch (key) {
    case KEY_TO: a->to = convert_format(text, state); return 0;
    case KEY_OUT: a->out = text; return 0;
    case KEY_MERGE: a->merge = text; return 0;
    case ARGP_KEY_ARG: cli_operand(&a->model, text, "one model folder", state); return 0;
    case ARGP_KEY_END: convert_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_convert_parse, .args_doc = "MODEL",
    .doc = "Write a model and its tokenizers for other programs, into a new folder."
           "\vNothing is written where the other program would compute something else: the setting of the model, or the "
           "tokenizer, that it does not have is named."};

int cmd_convert(int argc, char **argv)
{
    convert_arguments a = {.to = -1};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    rapt_model *m = cli_model_adapted(a.model, a.merge, false, &err);
    const rapt_export_options options = {(rapt_export_format)a.to, signals_stop, NULL};
    signals_catch();
    rapt_code code = m ? rapt_model_export(m, a.out, &options, &err) : err.code;
    rapt_model_free(m);
    if (code == RAPT_ERR_INTERRUPTED)
        return signals_status();
    return code ? cli_fail(&err) : 0;
}
