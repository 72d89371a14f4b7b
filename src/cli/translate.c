/* cli/translate.c: `rapt translate`: lines in, lines out. */
#include "cli/cli.h"

#include "rapt/decode.h"
#include "text/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_BEAM = 256, KEY_LENGTH_PENALTY, KEY_N_BEST, KEY_THREADS, KEY_PRECISION, KEY_BATCH, KEY_QUIET };

static const struct argp_option OPTIONS[] = {
    {"beam", KEY_BEAM, "N", 0, "Beam search over N hypotheses (default 1: greedy)", 0},
    {"length-penalty", KEY_LENGTH_PENALTY, "A", 0, "Exponent of ((5 + length) / 6), which log p is divided by (default 0)", 0},
    {"n-best", KEY_N_BEST, "N", 0, "Print the N best, each as LINE<tab>SCORE<tab>TEXT; at most the beam", 0},
    {"batch", KEY_BATCH, "N", 0, "Sentences computed together (default 64); the result is the same", 0},
    {"precision", KEY_PRECISION, "P", 0, "Of products of matrices: fp32 (default) or bf16", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads (default: RAPT_THREADS, else all CPUs); the result is the same", 0},
    {"quiet", KEY_QUIET, NULL, 0, "No warnings", 0},
    {0}};

typedef struct translate_arguments {
    const char *model, *file;
    rapt_translate_options o;
    bool quiet;
} translate_arguments;

static void check(translate_arguments *a, struct argp_state *state)
{
    if (!a->model)
        argp_error(state, "wants a model");
    if (a->o.n_best > 1 && a->o.n_best > a->o.beam)
        argp_error(state, "--n-best %zu needs --beam %zu at least", a->o.n_best, a->o.n_best);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    translate_arguments *a = state->input;
    switch (key) {
    case KEY_BEAM: a->o.beam = (size_t)cli_integer(text, 1, 1024, "beam", state); return 0;
    case KEY_LENGTH_PENALTY: a->o.length_penalty = cli_number(text, -10, 10, "length-penalty", state); return 0;
    case KEY_N_BEST: a->o.n_best = (size_t)cli_integer(text, 1, 1024, "n-best", state); return 0;
    case KEY_BATCH: a->o.batch = (size_t)cli_integer(text, 1, 65536, "batch", state); return 0;
    case KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case KEY_THREADS: a->o.threads = (int)cli_integer(text, 1, 256, "threads", state); return 0;
    case KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "a model and one file, no more");
        *(state->arg_num == 0 ? &a->model : &a->file) = text;
        return 0;
    case ARGP_KEY_END: check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = parse, .args_doc = "MODEL [FILE]",
                                 .doc = "Translate the lines of FILE, or of standard input, with a trained model."};

static void print_translation(const translate_arguments *a, size_t line, const rapt_translation *t)
{
    if (t->cut && !a->quiet)
        fprintf(stderr, "rapt: %s:%zu: longer than the model takes; its end is cut off\n", a->file ? a->file : "standard input",
                line + 1);
    if (a->o.n_best <= 1)
        printf("%s\n", t->count ? t->hypotheses[0].text : "");
    for (size_t i = 0; a->o.n_best > 1 && i < t->count; i++)
        printf("%zu\t%.4f\t%s\n", line + 1, t->hypotheses[i].score, t->hypotheses[i].text);
}

static rapt_code translate(const translate_arguments *a, rapt_model *m, const struct lines *lines, rapt_error *err)
{
    rapt_translation *out = calloc(lines->count + 1, sizeof *out);
    if (!out)
        return rapt_fail(err, RAPT_NO_MEMORY, "no memory for %zu translations", lines->count);
    rapt_code code = rapt_translate(m, (const char *const *)lines->line, lines->count, &a->o, out, err);
    for (size_t i = 0; i < lines->count && !code; i++)
        print_translation(a, i, &out[i]);
    rapt_translations_free(out, code ? 0 : lines->count);
    free(out);
    return code;
}

int cmd_translate(int argc, char **argv)
{
    translate_arguments a = {0};
    rapt_error err = {0};
    struct lines lines = {0};
    argp_parse(&ARGP, argc, argv, 0, NULL, &a);
    rapt_model *m = rapt_model_load_task(a.model, RAPT_TRANSLATION, &err);
    bool ok = m && lines_read(a.file ? a.file : "-", CLI_MAX_TEXT, &lines, &err) == RAPT_OK &&
              translate(&a, m, &lines, &err) == RAPT_OK;
    lines_free(&lines);
    rapt_model_free(m);
    return ok ? 0 : cli_fail(&err);
}
