/* cli/cmd_explain.c: `rapt explain`: options, and where the text, JSON or HTML goes. The library makes them (rapt/explain.h). */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/explain_checkpoints.h"
#include "cli/say.h"
#include "cli/unknown_words.h"

#include "base/file.h"
#include "rapt/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ONLY 64

typedef struct explain_arguments {
    const char *model, *text, *html;
    const char *operand; /* a target given as an operand behind the text */
    const char *only[MAX_ONLY];
    bool json, checkpoints;
    rapt_explain_options options;
    rapt_explain_format format;
} explain_arguments;

enum { KEY_ONLY = 256, KEY_AT, KEY_TRAIN, KEY_FULL, KEY_TABLE, KEY_HTML, KEY_CHECKPOINTS, KEY_COLOR, KEY_STRICT };

static const struct argp_option OPTIONS[] = {
    {"only", KEY_ONLY, "PATTERN", 0, "Only intermediates whose names match a shell pattern, such as 'encoder.0.*' or "
     "'*.weights', and the parts called tokens, predictions and loss; can be repeated", 0},
    {"at", KEY_AT, "POSITION", 0, "Next-token probabilities after this token, counted from 0, or with -1 from the end "
     "(default); all: after each", 0},
    {"train", KEY_TRAIN, "TARGET", OPTION_ARG_OPTIONAL, "Also the loss and the gradients of the backward pass, without dropout; "
     "labels: TARGET (here, or after TEXT) or else the model's own translation, for a language model the text's next tokens", 0},
    {"full", KEY_FULL, NULL, 0, "All elements, not only those in the corners of large matrices; in a page also those that "
     "would make it larger than 3 MB", 0},
    {"table", KEY_TABLE, NULL, 0, "Matrices as tables with row and column numbers and tokens", 0},
    CLI_OPTION_JSON("One JSON object; elements of matrices only with --full"),
    {"html", KEY_HTML, "FILE", 0, "An HTML page to explore in a browser instead of text; it needs no network", 0},
    {"checkpoints", KEY_CHECKPOINTS, NULL, 0, "With --html: a slider over the checkpoints of MODEL, the folder of a training "
     "run: attention weights and predictions of each, from untrained/ on where the recipe kept it (train.keep_untrained)", 0},
    {"strict", KEY_STRICT, NULL, 0, "Unknown words are errors; by default a warning names them, and <unk> is shown", 0},
    CLI_OPTION_THREADS,
    {"color", KEY_COLOR, "WHEN", 0, "auto (default: on a terminal, unless NO_COLOR is set), always or never", 0},
    {0}};

static bool wants_color(const char *when, struct argp_state *state)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        return *when == 'a';
    if (strcmp(when, "auto") != 0)
        cli_usage_error(state, "--color: '%s' is none of auto, always, never", when);
    return isatty(STDOUT_FILENO) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* MODEL TEXT [TARGET], in this order wherever options stand. */
static void take_operand(explain_arguments *a, const char *text, struct argp_state *state)
{
    const char **to = !a->model ? &a->model : !a->text ? &a->text : &a->operand;
    cli_operand(to, text, "a model, a text and one target; quote a text of several words: \"i am home .\"", state);
}

static void cmd_explain_check(explain_arguments *a, struct argp_state *state)
{
    if (!a->text)
        cli_usage_error(state, "missing operand: MODEL and TEXT");
    if (a->options.target && a->operand)
        cli_usage_error(state, "one target only");
    a->options.target = a->options.target ? a->options.target : a->operand;
    if (a->json + a->format.table + (a->html != NULL) > 1)
        cli_usage_error(state, "one of --table, --json and --html");
    if (a->checkpoints && !a->html)
        cli_usage_error(state, "--checkpoints is for --html");
    if (a->html && a->options.name_count)
        cli_usage_error(state, "--html shows everything; --only is for what is printed");
    if (a->format.has_position && (a->json || a->html))
        cli_usage_error(state, "--at is for text; --json and --html have every position");
}

static error_t cmd_explain_parse(int key, char *text, struct argp_state *state)
{
    explain_arguments *a = state->input;
    switch (key) {
    case KEY_ONLY:
        if (a->options.name_count == MAX_ONLY)
            cli_usage_error(state, "more than %d --only", MAX_ONLY);
        a->only[a->options.name_count++] = text;
        return 0;
    case KEY_AT:
        a->format.has_position = true;
        a->format.all_positions = strcmp(text, "all") == 0;
        a->format.position = a->format.all_positions ? 0 : cli_integer(text, -CLI_MAX, CLI_MAX, "at", state);
        return 0;
    case KEY_TRAIN:
        a->options.gradients = true;
        a->options.target = text ? text : a->options.target;
        return 0;
    case KEY_FULL: a->format.full = true; return 0;
    case KEY_TABLE: a->format.table = true; return 0;
    case CLI_KEY_JSON: a->json = true; return 0;
    case KEY_HTML: a->html = text; return 0;
    case KEY_STRICT: a->options.strict = true; return 0;
    case KEY_CHECKPOINTS: a->checkpoints = true; return 0;
    case CLI_KEY_THREADS: a->options.threads = cli_threads(text, state); return 0;
    case KEY_COLOR: a->format.color = wants_color(text, state); return 0;
    case ARGP_KEY_INIT: a->format.color = wants_color("auto", state); return 0;
    case ARGP_KEY_ARG: take_operand(a, text, state); return 0;
    case ARGP_KEY_END: cmd_explain_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_explain_parse, .args_doc = "MODEL TEXT [TARGET]",
    .doc = "Print all intermediate activations of a forward pass: name, formula, shape, statistics and elements."
           "\vThe encoder of a translation model reads TEXT, its decoder TARGET, or else the model's own (greedy) translation. "
           "A language model reads TEXT only. Unknown words are shown as the model reads them, as "
           "<unk>; texts beyond the maximum length are errors. Names are those "
           "of the model file; elements are printed as PyTorch prints them, and min, mean, max and std are over the finite "
           "ones. In names of tokens, an open box is a space."};

/* ---- output --------------------------------------------------------------------------------------------------- */

/* A failure to print is reported at exit, as for every command. */
static rapt_code explain_print(const explain_arguments *a, const rapt_explanation *e, rapt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    rapt_code code = a->json ? rapt_explanation_json(e, &a->format, &text, &size, err)
                             : rapt_explanation_text(e, &a->format, &text, &size, err);
    if (!code && (fwrite(text, 1, size, stdout) != size || (a->json && putchar('\n') == EOF)))
        code = RAPT_ERR_IO;
    free(text);
    return code;
}

static rapt_code explain_save_page(const explain_arguments *a, const rapt_explanation *e, rapt_error *err)
{
    char *html = NULL;
    size_t size = 0;
    explain_checkpoints all = {0};
    if (!*a->html)
        return rapt_fail(err, RAPT_ERR_VALUE, "the output path is empty");
    rapt_code code = a->checkpoints ? explain_checkpoints_read(a->model, e, a->options.threads, &all, err) : RAPT_OK;
    rapt_explain_page_options o = {.full = a->format.full, .checkpoints = all.list, .checkpoint_count = all.count};
    code = code ? code : rapt_explanation_page_with(e, &o, &html, &size, err);
    if (!code)
        code = file_write_atomic(a->html, html, size, err);
    explain_checkpoints_free(&all);
    free(html);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

static rapt_code explain_check_position(const explain_arguments *a, const rapt_explanation *e, rapt_error *err)
{
    rapt_explained_sequence last = rapt_explanation_sequence(e, rapt_explanation_sequence_count(e) - 1);
    long at = a->format.position, count = (long)last.count;
    if (at < count && at >= -count)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "--at %ld: the %s has tokens 0 to %ld", at, last.name, count - 1);
}

static rapt_code explain(const explain_arguments *a, const rapt_model *m, rapt_error *err)
{
    rapt_error why = {0};
    rapt_explanation *e = rapt_explanation_new(m, a->text, &a->options, &why);
    if (!e)
        return rapt_fail(err, why.code, "%s%s", why.code == RAPT_ERR_NOT_FOUND ? "--only: " : "", why.message);
    for (size_t i = 0; i < rapt_explanation_sequence_count(e); i++) {
        const rapt_explained_sequence s = rapt_explanation_sequence(e, i);
        unknown_words_warn(strcmp(s.name, "target") == 0 ? "the target" : "the text", s.unknown_words, s.unknown_word_count);
    }
    rapt_code code = explain_check_position(a, e, err);
    if (!code)
        code = a->html ? explain_save_page(a, e, err) : explain_print(a, e, err);
    rapt_explanation_free(e);
    return code;
}

int cmd_explain(int argc, char **argv)
{
    explain_arguments a = {.format.width = cli_width()};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    rapt_model *m = (a.options.gradients ? cli_model : cli_model_any_inference)(a.model, &err);
    if (m && m->task == RAPT_TASK_LANGUAGE_MODEL && a.options.target) { /* which options fit is known only when the model is
                                                                           loaded */
        cli_say("rapt: %s is a language model: it takes no target; --train is about the text's own tokens\n", a.model);
        rapt_model_free(m);
        return 2;
    }
    a.options.names = a.only;
    a.options.model_name = a.model;
    rapt_code code = m ? explain(&a, m, &err) : err.code;
    rapt_model_free(m);
    return code && err.code ? cli_fail(&err) : code ? 1 : 0;
}
