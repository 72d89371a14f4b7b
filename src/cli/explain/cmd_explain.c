/* cli/explain/cmd_explain.c: `rapt explain`: options, and what is printed where. Texts become tokens in explain_input.c,
 * the pass is run in explain_pass.c, its steps are printed in explain_text.c and explain_json.c; the page is in
 * view/page/page.h. */
#define _GNU_SOURCE
#include "cli/explain/cmd_explain.h"

#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/say.h"
#include "text/json_text.h"
#include "view/page/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE 80 /* columns of a table where nobody says */

enum { KEY_ONLY = 256, KEY_AT, KEY_TRAIN, KEY_FULL, KEY_TABLE, KEY_JSON, KEY_HTML, KEY_THREADS, KEY_COLOR };

static const struct argp_option OPTIONS[] = {
    {"only", KEY_ONLY, "PATTERN", 0, "Only the steps whose names match a shell pattern, such as 'encoder.0.*' or '*.weights', "
     "and the parts called tokens, predictions and loss; can be repeated", 0},
    {"at", KEY_AT, "POSITION", 0, "The likeliest tokens after this token, counted from 0, or with -1 from the end (default); "
     "all: after each", 0},
    {"train", KEY_TRAIN, "TARGET", OPTION_ARG_OPTIONAL, "Also the loss, and the gradients on the way back, without dropout: of "
     "TARGET (here, or after TEXT) or else the translation that the model finds, or for a language model of the text's own "
     "tokens", 0},
    {"full", KEY_FULL, NULL, 0, "All numbers, not only those in the corners of large matrices", 0},
    {"table", KEY_TABLE, NULL, 0, "Matrices as tables with row and column numbers, and tokens", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object; numbers of matrices only with --full", 0},
    {"html", KEY_HTML, "FILE", 0, "A page to look at in a browser instead of text; it needs no network", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads (default: RAPT_THREADS, else all CPUs); the result is the same", 0},
    {"color", KEY_COLOR, "WHEN", 0, "auto (default: on a terminal, unless NO_COLOR is set), always or never", 0},
    {0}};

static bool wants_colour(const char *when, struct argp_state *state)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        return *when == 'a';
    if (strcmp(when, "auto") != 0)
        cli_usage_error(state, "--color: '%s' is none of auto, always, never", when);
    return isatty(STDOUT_FILENO) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static void take_only(explain_arguments *a, const char *pattern, struct argp_state *state)
{
    if (a->only_count == EXPLAIN_MAX_ONLY)
        cli_usage_error(state, "more than %d --only", EXPLAIN_MAX_ONLY);
    a->only[a->only_count++] = pattern;
}

static void cmd_explain_take_at(explain_arguments *a, const char *text, struct argp_state *state)
{
    a->has_at = true;
    a->at_all = strcmp(text, "all") == 0;
    a->at = a->at_all ? 0 : cli_integer(text, -CLI_MOST, CLI_MOST, "at", state);
}

/* MODEL TEXT [TARGET], in this order wherever options stand. */
static void take_operand(explain_arguments *a, const char *text, struct argp_state *state)
{
    const char **places[] = {&a->model, &a->text, &a->operand};
    if (state->arg_num > 2)
        cli_usage_error(state, "a model, a text and one target, no more; a text of several words is one argument: \"go on .\"");
    else
        *places[state->arg_num] = text;
}

static void cmd_explain_check(explain_arguments *a, struct argp_state *state)
{
    if (!a->text)
        cli_usage_error(state, "wants a model and a text");
    if (a->target && a->operand)
        cli_usage_error(state, "one target only");
    a->target = a->target ? a->target : a->operand;
    if (a->json + a->table + (a->html != NULL) > 1)
        cli_usage_error(state, "one of --table, --json and --html");
    if (a->html && a->only_count)
        cli_usage_error(state, "--html shows everything; --only is for what is printed");
    if (a->has_at && (a->json || a->html))
        cli_usage_error(state, "--at is for text; --json and --html have every position");
}

static error_t cmd_explain_parse(int key, char *text, struct argp_state *state)
{
    explain_arguments *a = state->input;
    switch (key) {
    case KEY_ONLY: take_only(a, text, state); return 0;
    case KEY_AT: cmd_explain_take_at(a, text, state); return 0;
    case KEY_TRAIN:
        a->train = true;
        a->target = text ? text : a->target;
        return 0;
    case KEY_FULL: a->full = true; return 0;
    case KEY_TABLE: a->table = true; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_HTML: a->html = text; return 0;
    case KEY_THREADS: a->threads = (int)cli_integer(text, 1, 256, "threads", state); return 0;
    case KEY_COLOR: a->colour = wants_colour(text, state); return 0;
    case ARGP_KEY_INIT: a->colour = wants_colour("auto", state); return 0;
    case ARGP_KEY_ARG: take_operand(a, text, state); return 0;
    case ARGP_KEY_END: cmd_explain_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_explain_parse, .args_doc = "MODEL TEXT [TARGET]",
    .doc = "Print every step that a trained model takes with a text: name, formula, shape, statistics and numbers."
           "\vA translation model reads TEXT, and writes TARGET, or else the translation that it finds itself (greedily). A "
           "language model reads TEXT alone. Words that the model does not know, and texts that are longer than it takes, are an "
           "error. Names are those of the model file; numbers are printed as PyTorch prints them, and min, mean, max and std "
           "are over the finite ones. In names of tokens, an open box is a space."};

/* ---- output --------------------------------------------------------------------------------------------------- */

static size_t cmd_explain_line_width(void)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return terminal && size.ws_col > 20 ? size.ws_col : LINE;
}

/* What cannot be written is told at exit, as for every command. */
static rapt_code cmd_explain_print_json(json_t *o, rapt_error *err)
{
    char *text = json_text(o, JSON_REAL_PRECISION(9)); /* a float comes back as it was */
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "no memory for JSON");
    rapt_code code = puts(text) < 0 ? RAPT_ERR_IO : RAPT_OK;
    free(text);
    return code;
}

static rapt_code explain_as_json(explanation *e, rapt_error *err)
{
    e->steps = json_array();
    rapt_code code = e->steps ? explain_pass(e, err) : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for JSON");
    if (!code)
        code = explain_check_only(e, err);
    json_t *o = code ? NULL : explain_object(e, err);
    if (o)
        code = e->a->html ? page_write(e->a->html, o, err) : cmd_explain_print_json(o, err);
    json_decref(o);
    return o ? code : code ? code : RAPT_ERR_MEMORY;
}

static rapt_code write_text(explanation *e, rapt_error *err)
{
    if (e->a->only_count == 0)
        explain_print_model(e);
    return explain_pass(e, err);
}

/* All of the text is there before the first of it is printed: whatever is wrong, nothing else is. */
static rapt_code explain_as_text(explanation *e, rapt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    e->text = open_memstream(&text, &size);
    rapt_code code = e->text ? write_text(e, err) : rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a text");
    if (e->text && fclose(e->text) != 0 && !code)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "no memory for a text");
    if (!code)
        code = explain_check_only(e, err);
    if (!code)
        code = fwrite(text, 1, size, stdout) == size ? RAPT_OK : RAPT_ERR_IO;
    free(text);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

/* What fits is known only when the model is. */
static int cmd_explain_refuse(const char *reason, const char *model)
{
    cli_say("rapt: %s %s\n", model, reason);
    return 2;
}

static rapt_code explain(explanation *e, rapt_error *err)
{
    e->t = rapt_tape_new(&(rapt_tape_options){.threads = e->a->threads}, err);
    rapt_code code = e->t ? explain_read(e, err) : err->code;
    if (!code)
        code = (e->a->json || e->a->html ? explain_as_json : explain_as_text)(e, err);
    rapt_tape_free(e->t);
    return code;
}

static void cmd_explain_tear_down(explanation *e)
{
    for (size_t i = 0; i < e->sequence_count; i++) {
        for (size_t j = 0; e->sequences[i].labels && j < e->sequences[i].count; j++)
            free(e->sequences[i].labels[j]);
        free(e->sequences[i].labels);
        free(e->sequences[i].ids);
    }
    for (size_t i = 0; i < e->name_count; i++)
        free(e->names[i]);
    free(e->names);
    free(e->output);
    free(e->translation);
    free(e->nll);
    free(e->likeliest);
    free(e->probabilities);
    json_decref(e->steps);
}

int cmd_explain(int argc, char **argv)
{
    explain_arguments a = {.width = cmd_explain_line_width()};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    rapt_model *m = cli_model(a.model, &err);
    bool language = m && m->task == RAPT_TASK_LANGUAGE_MODEL;
    int status = 0;
    if (language && a.target)
        status = cmd_explain_refuse("is a language model: it takes no target; --train is about the text's own tokens", a.model);
    explanation e = {.a = &a, .m = m};
    rapt_code code = !m ? RAPT_ERR_IO : status ? RAPT_OK : explain(&e, &err);
    cmd_explain_tear_down(&e);
    rapt_model_free(m);
    return code && err.code ? cli_fail(&err) : code ? 1 : status;
}
