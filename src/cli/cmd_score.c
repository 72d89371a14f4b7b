/* cli/cmd_score.c: the command `rapt score`, BLEU and chrF of a translated text.
 * The translations may come from any system.
 * The metrics themselves are in rapt/metrics.h. */
#include "cli/cli.h"
#include "cli/put_json.h"

#include "cli/score_book.h"
#include "cli/score_warnings.h"
#include "rapt/metrics.h"
#include "text/lines.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 30, BOOK_K = 2, MAX_K = 1000 };
enum { KEY_METRIC = 256, KEY_TOKENIZE, KEY_LOWERCASE, KEY_SMOOTH, KEY_SMOOTH_VALUE, KEY_SENTENCE, KEY_K, KEY_CHRF_LOWERCASE };
enum metric { METRIC_BOTH, METRIC_BLEU, METRIC_CHRF, METRIC_CHRF_PP, METRIC_BOOK }; /* both: BLEU and chrF */

struct arguments {
    const char *hypothesis;
    char **references; /* [count], within argv */
    size_t count;
    enum metric metric;
    rapt_bleu_options bleu;
    rapt_chrf_options chrf;
    const char *bleu_only; /* an option that was given and that chrF does not have */
    long k;                /* k of the book's BLEU; 0: not given */
    bool sentence, json, quiet;
};

/* The texts in the forms that the metrics take. */
struct texts {
    struct lines hypothesis;
    struct lines *references;    /* [count] */
    const char *const **columns; /* [count]: for each reference, the lines to score */
    size_t count;
};

struct choice {
    const char *name;
    int value;
};

#define CHOICE(value, name) {name, value},
static const struct choice metrics[] = {
    {"bleu", METRIC_BLEU}, {"chrf", METRIC_CHRF}, {"chrf++", METRIC_CHRF_PP}, {"book", METRIC_BOOK},
    {NULL, 0}};
static const struct choice tokenizers[] = {RAPT_TOKENIZERS(CHOICE){NULL, 0}};
static const struct choice smoothings[] = {RAPT_SMOOTHINGS(CHOICE){NULL, 0}};
#undef CHOICE

static const struct argp_option options[] = {
    {"metric", KEY_METRIC, "NAME", 0, "bleu, chrf, chrf++ or book (default: BLEU and chrF; with --sentence BLEU); book: bleu() "
     "of the book, from 0 to 1, the mean over the lines, whose words stand between spaces", 0},
    {"k", KEY_K, "N", 0, "For --metric book: its longest n-grams (default 2)", 0},
    {"tokenize", KEY_TOKENIZE, "NAME", 0, "Tokenization of BLEU: 13a (default), none, intl, char, or zh for Chinese", 0},
    {"lowercase", KEY_LOWERCASE, NULL, 0, "BLEU of lower-cased text, as sacreBLEU's -lc", 0},
    {"chrf-lowercase", KEY_CHRF_LOWERCASE, NULL, 0, "chrF of lower-cased text, as sacreBLEU's option of this name", 0},
    {"smooth", KEY_SMOOTH, "NAME", 0, "Smoothing of BLEU: exp (default), none, floor or add-k", 0},
    {"smooth-value", KEY_SMOOTH_VALUE, "X", 0, "Value for floor (default 0.1) or add-k (default 1)", 0},
    {"sentence", KEY_SENTENCE, NULL, 0, "A score for each line, BLEU with effective order", 0},
    CLI_OPTION_JSON("Print a JSON object for each score"),
    CLI_OPTION_QUIET("No warnings about text that looks tokenized"),
    {0}};

/* Finds the choice; for another name it reports wrong usage, which ends the program. */
static int cmd_score_choose(const struct choice *choices, const char *name, const char *option,
                            struct argp_state *state)
{
    char known[80] = "";
    for (const struct choice *c = choices; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c->value;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", c->name);
    }
    cli_usage_error(state, "--%s: '%s' is none of %s", option, name, known);
    return 0;
}

static double positive_number(const char *text, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value <= 0)
        cli_usage_error(state, "--smooth-value: '%s' is not a number above 0", text);
    return value;
}

static void cmd_score_check_usage(const struct arguments *args, struct argp_state *state)
{
    size_t standard = strcmp(args->hypothesis, "-") == 0;
    for (size_t r = 0; r < args->count; r++)
        standard += strcmp(args->references[r], "-") == 0;
    rapt_smooth smooth = args->bleu.smooth;
    if (standard > 1)
        cli_usage_error(state, "only one of the texts can be standard input");
    else if (args->metric > METRIC_BLEU && args->bleu_only)
        cli_usage_error(state, "--%s is for BLEU only", args->bleu_only);
    else if (args->bleu.lowercase && (args->metric == METRIC_CHRF || args->metric == METRIC_CHRF_PP))
        cli_usage_error(state, "--lowercase is for BLEU; chrF has --chrf-lowercase, as in sacreBLEU");
    else if (args->chrf.lowercase && (args->metric == METRIC_BLEU || args->metric == METRIC_BOOK))
        cli_usage_error(state, "--chrf-lowercase is for chrF only");
    else if (args->k && args->metric != METRIC_BOOK)
        cli_usage_error(state, "--k is for --metric book only");
    else if (args->metric == METRIC_BOOK && args->count > 1)
        cli_usage_error(state, "--metric book compares with one reference");
    else if (args->bleu.smooth_value != 0 && smooth != RAPT_SMOOTH_FLOOR && smooth != RAPT_SMOOTH_ADD_K)
        cli_usage_error(state, "--smooth-value goes with --smooth floor or add-k");
}

static error_t parse_bleu_option(int key, char *text, struct arguments *args, struct argp_state *state)
{
    switch (key) {
    case KEY_TOKENIZE:
        args->bleu_only = "tokenize";
        args->bleu.tokenize = (rapt_tokenize)cmd_score_choose(tokenizers, text, "tokenize", state);
        return 0;
    case KEY_SMOOTH:
        args->bleu_only = "smooth";
        args->bleu.smooth = (rapt_smooth)cmd_score_choose(smoothings, text, "smooth", state);
        return 0;
    case KEY_SMOOTH_VALUE:
        args->bleu_only = "smooth-value";
        args->bleu.smooth_value = positive_number(text, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void cmd_score_take_paths(struct arguments *args, struct argp_state *state)
{
    char **paths = state->argv + state->next;
    size_t count = (size_t)(state->argc - state->next);
    if (count < 2)
        cli_usage_error(state, "missing operand: HYPOTHESIS and REFERENCE");
    args->hypothesis = paths[0];
    args->references = paths + 1;
    args->count = count - 1;
    if (args->sentence && args->metric == METRIC_BOTH)
        args->metric = METRIC_BLEU;
}

static error_t cmd_score_parse(int key, char *text, struct argp_state *state)
{
    struct arguments *args = state->input;
    switch (key) {
    case KEY_METRIC:
        args->metric = (enum metric)cmd_score_choose(metrics, text, "metric", state);
        args->chrf.word_order = args->metric == METRIC_CHRF_PP ? 2 : 0;
        return 0;
    case KEY_K:
        args->k = cli_integer(text, 1, MAX_K, "k", state);
        return 0;
    case KEY_LOWERCASE:
        args->bleu.lowercase = true;
        return 0;
    case KEY_CHRF_LOWERCASE:
        args->chrf.lowercase = true;
        return 0;
    case KEY_SENTENCE:
        args->sentence = args->bleu.effective_order = true;
        return 0;
    case CLI_KEY_JSON:
        args->json = true;
        return 0;
    case CLI_KEY_QUIET:
        args->quiet = true;
        return 0;
    case ARGP_KEY_ARGS:
        cmd_score_take_paths(args, state);
        cmd_score_check_usage(args, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        cli_usage_error(state, "missing operand: HYPOTHESIS and REFERENCE");
        return EINVAL;
    default:
        return parse_bleu_option(key, text, args, state);
    }
}

static const struct argp score_argp = {
    .options = options,
    .parser = cmd_score_parse,
    .args_doc = "HYPOTHESIS REFERENCE...",
    .doc = "Score a translation against one or more references, line by line."
           "\vPrints scores in percent, each with its name, sacreBLEU's signature, and the version of rapt. "
           "HYPOTHESIS or a REFERENCE can be - for standard input."};

static const char *path_or_stdin(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static rapt_code cmd_score_read_text(const char *path, struct lines *lines, rapt_error *err)
{
    rapt_code code = lines_read_marked(path, MAX_TEXT_BYTES, lines, err);
    if (code == RAPT_OK && lines->count == 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is empty", path_or_stdin(path));
    return code;
}

static rapt_code read_reference(const struct arguments *args, size_t r, struct texts *texts, rapt_error *err)
{
    struct lines *lines = &texts->references[r];
    rapt_code code = cmd_score_read_text(args->references[r], lines, err);
    if (code != RAPT_OK)
        return code;
    if (lines->count != texts->hypothesis.count)
        return rapt_fail(err, RAPT_ERR_VALUE, "%.200s has %zu lines, but %.200s has %zu", path_or_stdin(args->hypothesis),
                         texts->hypothesis.count, path_or_stdin(args->references[r]), lines->count);
    return RAPT_OK;
}

static rapt_code cmd_score_read_texts(const struct arguments *args, struct texts *texts, rapt_error *err)
{
    texts->references = calloc(args->count, sizeof *texts->references);
    texts->columns = calloc(args->count, sizeof *texts->columns);
    if (!texts->references || !texts->columns)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu references", args->count);
    texts->count = args->count;
    rapt_code code = cmd_score_read_text(args->hypothesis, &texts->hypothesis, err);
    for (size_t r = 0; r < args->count && code == RAPT_OK; r++)
        code = read_reference(args, r, texts, err);
    return code;
}

static void free_texts(struct texts *texts)
{
    for (size_t r = 0; r < texts->count; r++)
        lines_free(&texts->references[r]);
    lines_free(&texts->hypothesis);
    free(texts->references);
    free(texts->columns);
}

/* Whole numbers are written as integers: only add-k smoothing makes fractions. */
static json_t *json_counts(const double *counts)
{
    json_t *array = json_array();
    for (size_t n = 0; n < RAPT_BLEU_ORDER; n++)
        json_array_append_new(array, counts[n] == floor(counts[n]) ? json_integer((json_int_t)counts[n])
                                                                   : json_real(counts[n]));
    return array;
}

static json_t *json_reals(const double *values)
{
    json_t *array = json_array();
    for (size_t n = 0; n < RAPT_BLEU_ORDER; n++)
        json_array_append_new(array, json_real(values[n]));
    return array;
}

static void add_bleu(json_t *object, const rapt_bleu *bleu)
{
    json_object_set_new(object, "counts", json_counts(bleu->counts));
    json_object_set_new(object, "totals", json_counts(bleu->totals));
    json_object_set_new(object, "precisions", json_reals(bleu->precisions));
    json_object_set_new(object, "bp", json_real(bleu->bp));
    json_object_set_new(object, "sys_len", json_integer((json_int_t)bleu->sys_len));
    json_object_set_new(object, "ref_len", json_integer((json_int_t)bleu->ref_len));
}

static rapt_code cmd_score_print_json(double score, const char *name, const char *signature, const rapt_bleu *bleu,
                                      rapt_error *err)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(name));
    json_object_set_new(object, "score", json_real(score));
    json_object_set_new(object, "signature", json_string(signature));
    if (bleu)
        add_bleu(object, bleu);
    return put_json(object, 0, err);
}

/* Prints one score; `bleu` is NULL for chrF. */
static rapt_code print_score(const struct arguments *args, double score, const rapt_bleu *bleu,
                             rapt_error *err)
{
    char signature[CLI_SIGNATURE];
    const char *name = bleu ? "BLEU" : args->metric == METRIC_CHRF_PP ? "chrF2++" : "chrF2";
    if (bleu)
        rapt_bleu_signature(&args->bleu, args->count, signature, RAPT_SIGNATURE_SIZE);
    else
        rapt_chrf_signature(&args->chrf, args->count, signature, RAPT_SIGNATURE_SIZE);
    cli_sign(signature);
    if (args->json)
        return cmd_score_print_json(score, name, signature, bleu, err);
    printf("%.2f %s|%s\n", score, name, signature);
    return RAPT_OK;
}

/* Scores `count` lines from line `first` on as one text. */
static rapt_code score_lines(const struct arguments *args, struct texts *texts, size_t first, size_t count,
                             rapt_error *err)
{
    const char *const *hypothesis = (const char *const *)texts->hypothesis.line + first;
    rapt_bleu bleu;
    double chrf;
    rapt_code code = RAPT_OK;
    for (size_t r = 0; r < texts->count; r++)
        texts->columns[r] = (const char *const *)texts->references[r].line + first;
    if (args->metric <= METRIC_BLEU) {
        code = rapt_bleu_corpus(&args->bleu, hypothesis, texts->columns, texts->count, count, &bleu, err);
        code = code == RAPT_OK ? print_score(args, bleu.score, &bleu, err) : code;
    }
    if (args->metric == METRIC_BLEU || code != RAPT_OK)
        return code;
    code = rapt_chrf_corpus(&args->chrf, hypothesis, texts->columns, texts->count, count, &chrf, err);
    return code == RAPT_OK ? print_score(args, chrf, NULL, err) : code;
}

static rapt_code score_each_line(const struct arguments *args, struct texts *texts, rapt_error *err)
{
    rapt_error why = {0};
    for (size_t i = 0; i < texts->hypothesis.count; i++)
        if (score_lines(args, texts, i, 1, &why) != RAPT_OK)
            return rapt_fail(err, why.code, "line %zu: %s", i + 1, why.message);
    return RAPT_OK;
}

static void warn_of_tokenized_text(const struct arguments *args, const struct texts *texts)
{
    bool cuts_words = args->metric <= METRIC_BLEU && args->bleu.tokenize != RAPT_TOKENIZE_NONE &&
                      args->bleu.tokenize != RAPT_TOKENIZE_CHAR;
    score_warnings(path_or_stdin(args->hypothesis), &texts->hypothesis, cuts_words);
    for (size_t r = 0; r < texts->count; r++)
        score_warnings(path_or_stdin(args->references[r]), &texts->references[r], cuts_words);
    if (args->metric <= METRIC_BLEU)
        score_warn_of_script(path_or_stdin(args->references[0]), &texts->references[0], args->bleu.tokenize);
}

static rapt_code cmd_score_book(const struct arguments *args, const struct texts *texts, rapt_error *err)
{
    score_book_options o = {args->k ? args->k : BOOK_K, args->bleu.lowercase, args->sentence, args->json};
    return score_book(&o, &texts->hypothesis, &texts->references[0], err);
}

static rapt_code cmd_score_run(const struct arguments *args, struct texts *texts, rapt_error *err)
{
    rapt_code code = cmd_score_read_texts(args, texts, err);
    if (code == RAPT_OK && !args->quiet)
        warn_of_tokenized_text(args, texts);
    if (code == RAPT_OK && args->metric == METRIC_BOOK)
        code = cmd_score_book(args, texts, err);
    else if (code == RAPT_OK && args->sentence)
        code = score_each_line(args, texts, err);
    else if (code == RAPT_OK)
        code = score_lines(args, texts, 0, texts->hypothesis.count, err);
    return code;
}

int cmd_score(int argc, char **argv)
{
    struct arguments args = {0};
    struct texts texts = {0};
    rapt_error err = {0};
    cli_parse(&score_argp, argc, argv, &args);
    rapt_code code = cmd_score_run(&args, &texts, &err);
    free_texts(&texts);
    return code ? cli_fail(&err) : 0;
}
