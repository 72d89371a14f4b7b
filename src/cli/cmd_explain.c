/* cli/cmd_explain.c: `rapt explain`: options, and where the text, JSON or HTML goes. The library makes them (rapt/explain.h). */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/say.h"
#include "cli/unknown_words.h"

#include "base/disk.h"
#include "base/file.h"
#include "base/terminal.h"
#include "explain/page/book_address.h"
#include "io/model_core.h"
#include "rapt/explain.h"
#include "rapt/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ONLY 64

typedef enum explain_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } explain_color;

typedef struct explain_arguments {
    const char *model, *text, *html, *book;
    const char *train, *operand; /* a target given with --train, or behind the text */
    const char *only[MAX_ONLY];
    cli_heads without;
    bool json, checkpoints, has_position;
    explain_color color;
    rapt_explain_options options;
    rapt_explain_format format;
} explain_arguments;

static void take_position(const cli_option *o, void *in, const char *text)
{
    explain_arguments *a = in;
    a->has_position = true;
    a->format.all_positions = strcmp(text, "all") == 0;
    a->format.position = a->format.all_positions ? -1 : option_integer(text, -OPTION_ANY, OPTION_ANY, o->name);
}

#define ARGUMENTS explain_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXTS("only", "PATTERN", AT(only), AT(options.name_count), MAX_ONLY, "Only intermediates whose names match a shell "
                 "pattern, such as 'encoder.0.*' or '*.weights', and the parts called tokens, predictions, lens and loss; can "
                 "be repeated"),
    OPTION_TAKE("at", "POSITION", take_position, "Next-token probabilities after this token, counted from 0, or with -1 from the "
                "end (default); all: after each"),
    OPTION_FLAG("lens", AT(options.lens), "Also the logit lens: which tokens the model would predict if it stopped after each "
                "block"),
    OPTION_TEXT("train", "[TARGET]", AT(train), "Also the loss and the gradients of the backward pass, without dropout; labels: "
                "TARGET (here, or after TEXT) or else the model's own translation, for a language model the text's next tokens"),
    OPTION_FLAG("full", AT(format.full), "All elements, not only those in the corners of large matrices; in a page also those "
                "that would make it larger than 3 MB"),
    OPTION_FLAG("table", AT(format.table), "Matrices as tables with row and column numbers and tokens"),
    OPTION_FLAG("json", AT(json), "One JSON object; elements of matrices only with --full"),
    OPTION_TEXT("html", "FILE", AT(html), "An HTML page to explore in a browser instead of text; it needs no network"),
    OPTION_FLAG("checkpoints", AT(checkpoints), "With --html: a slider over the checkpoints of MODEL, the folder of a training "
                "run: attention weights and predictions of each, from untrained/ on where the recipe kept it "
                "(train.keep_untrained)", .needs = "html"),
    OPTION_TEXT("book", "ADDRESS", AT(book), "With --html: the page names chapters of the book, and links them where this is the "
                "address of docs/book: http://, https://, file://, or relative to the page", .needs = "html"),
    CLI_OPTION_WITHOUT_HEAD(AT(without.names), AT(without.count)),
    OPTION_FLAG("strict", AT(options.strict), "Unknown words are errors; by default a warning names them, and <unk> is shown"),
    CLI_OPTION_THREADS(AT(options.threads)),
    OPTION_WORD("color", "WHEN", AT(color), COLOR_AUTO, "auto, always, never", "auto (default: on a terminal, unless NO_COLOR is "
                "set), always or never"),
    {0}};

static bool terminal_has_colors(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = terminal_kind();
    return terminal_is(DISK_OUT) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static void cmd_explain_finish(void *arguments)
{
    explain_arguments *a = arguments;
    rapt_error err = {0};
    if (a->train && a->operand)
        usage_error("one target only");
    a->options.gradients = options_given("train");
    if (a->options.gradients && a->without.count)
        usage_error("--train computes gradients with all heads on: not with --without-head");
    a->options.target = rapt_text_of(a->train ? a->train : a->operand);
    a->format.color = a->color == COLOR_ALWAYS || (a->color == COLOR_AUTO && terminal_has_colors());
    if (a->json + a->format.table + (a->html != NULL) > 1)
        usage_error("one of --table, --json and --html");
    if (a->html && a->options.name_count)
        usage_error("--html shows everything; --only is for what is printed");
    if (a->has_position && (a->json || a->html))
        usage_error("--at is for text; --json and --html have every position");
    if (a->book && book_address_check(a->book, &err))
        usage_error("--book: %s", err.message);
}

const cli_command explain_command = {
    .options = OPTIONS, .operands = "MODEL TEXT [TARGET]",
    .about = "Print all intermediate activations of a forward pass: name, formula, shape, statistics and elements.",
    .notes = "The encoder of a translation model reads TEXT, its decoder TARGET, or else the model's own (greedy) translation. "
             "A language model reads TEXT only. Unknown words are shown as the model reads them, as <unk>; texts beyond the "
             "maximum length are errors. Tensors have the names of the model file. Elements are printed as PyTorch prints them; "
             "min, mean, max and std are over the finite ones. In names of tokens, an open box is a space.",
    .least = 2, .missing = "MODEL and TEXT", .most = 3,
    .takes = "a model, a text and one target; quote a text of several words: \"i am home .\"",
    .operand = {AT(model), AT(text), AT(operand)}, .finish = cmd_explain_finish};

/* ---- --checkpoints -------------------------------------------------------------------------------------------- */

typedef struct explain_checkpoints {
    rapt_explained_checkpoint *list; /* [count], in the order of training */
    size_t count;
} explain_checkpoints;

/* Takes the model. */
static rapt_code explain_checkpoint(rapt_model *m, uint64_t step, const rapt_explanation *like, const explain_arguments *a,
                                    explain_checkpoints *all, rapt_error *err)
{
    static const char *const names[] = {"*.weights"};
    rapt_explain_options o = rapt_explain_options_default();
    o.names = names;
    o.name_count = 1;
    o.like = like;
    o.threads = a->options.threads;
    m = cli_model_without(m, &a->without, err);
    rapt_explanation *e = m ? rapt_explanation_new(m, NULL, 0, &o, err) : NULL;
    rapt_model_free(m);
    if (!e)
        return err->code;
    all->list[all->count++] = (rapt_explained_checkpoint){.step = step, .explanation = e};
    return RAPT_OK;
}

static rapt_code find_untrained(const char *folder, char **path, bool *there, rapt_error *err)
{
    rapt_code code = file_path(folder, "untrained", path, err);
    return code ? code : file_is_there(*path, there, err);
}

/* Explains the tokens of `like` (attention weights and predictions) with each checkpoint of the model folder, first with its
 * untrained/ if it has one; one model is in memory at a time. Call explain_checkpoints_free afterwards in any case. */
static rapt_code explain_checkpoints_read(const explain_arguments *a, const rapt_explanation *like, explain_checkpoints *all,
                                          rapt_error *err)
{
    const char *folder = a->model;
    uint64_t *steps = NULL;
    size_t count = 0;
    char *untrained = NULL;
    bool there = false;
    *all = (explain_checkpoints){0};
    rapt_code code = find_untrained(folder, &untrained, &there, err);
    code = code ? code : rapt_checkpoint_steps(folder, &steps, &count, err);
    if (!code && !there && count == 0)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s holds no checkpoints: --checkpoints needs the folder of a training run",
                         folder);
    all->list = code ? NULL : calloc(count + 1, sizeof *all->list);
    if (!code && !all->list)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu checkpoints", count);
    if (!code && there)
        code = explain_checkpoint(rapt_model_load(untrained, NULL, err), 0, like, a, all, err);
    for (size_t i = 0; i < count && !code; i++)
        code = explain_checkpoint(rapt_model_load_checkpoint(folder, steps[i], err), steps[i], like, a, all, err);
    free(untrained);
    free(steps);
    return code;
}

static void explain_checkpoints_free(explain_checkpoints *all)
{
    for (size_t i = 0; i < all->count; i++)
        rapt_explanation_free((rapt_explanation *)all->list[i].explanation);
    free(all->list);
}

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
    rapt_code code = a->checkpoints ? explain_checkpoints_read(a, e, &all, err) : RAPT_OK;
    rapt_explain_page_options o = rapt_explain_page_options_default();
    o.full = a->format.full;
    o.checkpoints = all.list;
    o.checkpoint_count = all.count;
    o.book = a->book;
    code = code ? code : rapt_explanation_page(e, &o, &html, &size, err);
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
    const int64_t at = a->format.position, count = (int64_t)last.count;
    if (at < count && at >= -count)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "--at %lld: the %s has tokens 0 to %zu", (long long)at, last.name, last.count - 1);
}

static rapt_code explain(const explain_arguments *a, const rapt_model *m, rapt_error *err)
{
    rapt_error why = {0};
    rapt_explanation *e = rapt_explanation_new(m, a->text, strlen(a->text), &a->options, &why);
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
    explain_arguments a = {.format = rapt_explain_format_default(), .options = rapt_explain_options_default()};
    rapt_error err = {0};
    a.format.width = cli_width();
    options_parse(&explain_command, argc, argv, &a);
    rapt_model *m = (a.options.gradients ? cli_model : cli_model_any_inference)(a.model, &err);
    m = cli_model_without(m, &a.without, &err);
    if (m && m->task == RAPT_TASK_LANGUAGE_MODEL && a.options.target.data) { /* which options fit is known only when the model is
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
