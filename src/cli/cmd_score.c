/* cli/cmd_score.c: the command `rapt score`, BLEU and chrF of a translated text.
 * The translations may come from any system.
 * The metrics themselves are in rapt/metrics.h. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/put_json.h"

#include "base/texts.h"
#include "cli/score_parts.h"
#include "rapt/metrics.h"
#include "text/lines.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 30, BOOK_K = 2, MAX_K = 1000 };
enum metric { METRIC_BOTH, METRIC_BLEU, METRIC_CHRF, METRIC_CHRF_PP, METRIC_BOOK }; /* both: BLEU and chrF */

struct arguments {
    const char *hypothesis;
    char **references; /* [count], within argv */
    size_t count;
    enum metric metric;
    rapt_bleu_options bleu;
    rapt_chrf_options chrf;
    long long k;           /* k of the book's BLEU; 0: not given */
    bool sentence, json, quiet;
};

/* The texts in the forms that the metrics take. */
struct texts {
    struct lines hypothesis;
    struct lines *references;   /* [count] */
    rapt_text *translations;    /* the hypothesis */
    rapt_text **scored;         /* [count]: the references */
    const rapt_text **columns;  /* [count]: of each, the lines to score */
    size_t count;
};

static void take_smooth_value(const cli_option *o, void *in, const char *text)
{
    struct arguments *args = in;
    char *end;
    args->bleu.smooth_value = strtod(text, &end);
    if (end == text || *end || !isfinite(args->bleu.smooth_value) || args->bleu.smooth_value <= 0)
        usage_error("--%s: '%s' is not a number above 0", o->name, text);
}

#define ARGUMENTS struct arguments
static const cli_option BLEU_ONLY[] = {
    OPTION_WORD("tokenize", "NAME", AT(bleu.tokenize), RAPT_TOKENIZE_13A, "13a, none, intl, char, zh", "Tokenization of BLEU: "
                "13a (default), none, intl, char, or zh for Chinese"),
    OPTION_WORD("smooth", "NAME", AT(bleu.smooth), RAPT_SMOOTH_EXP, "exp, none, floor, add-k", "Smoothing of BLEU: exp "
                "(default), none, floor or add-k"),
    OPTION_TAKE("smooth-value", "X", take_smooth_value, "Value for floor (default 0.1) or add-k (default 1)"),
    {0}};

static const cli_option OPTIONS[] = {
    OPTION_WORD("metric", "NAME", AT(metric), METRIC_BLEU, "bleu, chrf, chrf++, book", "bleu, chrf, chrf++ or book (default: "
                "BLEU and chrF; with --sentence BLEU); book: bleu() of the book, from 0 to 1, the mean over the lines, whose "
                "words stand between spaces"),
    OPTION_LONG("k", "N", AT(k), 1, MAX_K, "For --metric book: its longest n-grams (default 2)"),
    OPTION_TABLE(BLEU_ONLY, 0),
    OPTION_FLAG("lowercase", AT(bleu.lowercase), "BLEU of lower-cased text, as sacreBLEU's -lc"),
    OPTION_FLAG("chrf-lowercase", AT(chrf.lowercase), "chrF of lower-cased text, as sacreBLEU's option of this name"),
    OPTION_FLAG("sentence", AT(sentence), "A score for each line, BLEU with effective order"),
    OPTION_FLAG("json", AT(json), "Print a JSON object for each score"),
    OPTION_FLAG("quiet", AT(quiet), "No warnings about text that looks tokenized"),
    {0}};

static void cmd_score_check_usage(const struct arguments *args)
{
    size_t standard = strcmp(args->hypothesis, "-") == 0;
    for (size_t r = 0; r < args->count; r++)
        standard += strcmp(args->references[r], "-") == 0;
    const rapt_smooth smooth = args->bleu.smooth;
    const char *bleu_only = options_given_of(BLEU_ONLY);
    if (standard > 1)
        usage_error("only one of the texts can be standard input");
    else if (args->metric > METRIC_BLEU && bleu_only)
        usage_error("--%s is for BLEU only", bleu_only);
    else if (args->bleu.lowercase && (args->metric == METRIC_CHRF || args->metric == METRIC_CHRF_PP))
        usage_error("--lowercase is for BLEU; chrF has --chrf-lowercase, as in sacreBLEU");
    else if (args->chrf.lowercase && (args->metric == METRIC_BLEU || args->metric == METRIC_BOOK))
        usage_error("--chrf-lowercase is for chrF only");
    else if (args->k && args->metric != METRIC_BOOK)
        usage_error("--k is for --metric book only");
    else if (args->metric == METRIC_BOOK && args->count > 1)
        usage_error("--metric book compares with one reference");
    else if (args->bleu.smooth_value != 0 && smooth != RAPT_SMOOTH_FLOOR && smooth != RAPT_SMOOTH_ADD_K)
        usage_error("--smooth-value goes with --smooth floor or add-k");
}

static void cmd_score_finish(void *arguments)
{
    struct arguments *args = arguments;
    size_t count;
    char **paths = options_operands(&count);
    args->hypothesis = paths[0];
    args->references = paths + 1;
    args->count = count - 1;
    args->chrf.word_order = args->metric == METRIC_CHRF_PP ? 2 : 0;
    args->bleu.effective_order = args->sentence;
    if (args->sentence && args->metric == METRIC_BOTH)
        args->metric = METRIC_BLEU;
    cmd_score_check_usage(args);
}

const cli_command score_command = {
    .options = OPTIONS, .operands = "HYPOTHESIS REFERENCE...",
    .about = "Score a translation against one or more references, line by line.",
    .notes = "Prints scores in percent, each with its name, sacreBLEU's signature, and the version of rapt. "
             "HYPOTHESIS or a REFERENCE can be - for standard input.",
    .least = 2, .missing = "HYPOTHESIS and REFERENCE", .finish = cmd_score_finish};

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
    texts->scored[r] = texts_of((const char *const *)lines->line, lines->count, err);
    return texts->scored[r] ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code cmd_score_read_texts(const struct arguments *args, struct texts *texts, rapt_error *err)
{
    texts->references = calloc(args->count, sizeof *texts->references);
    texts->scored = calloc(args->count, sizeof *texts->scored);
    texts->columns = calloc(args->count, sizeof *texts->columns);
    if (!texts->references || !texts->scored || !texts->columns)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu references", args->count);
    texts->count = args->count;
    rapt_code code = cmd_score_read_text(args->hypothesis, &texts->hypothesis, err);
    for (size_t r = 0; r < args->count && code == RAPT_OK; r++)
        code = read_reference(args, r, texts, err);
    if (code == RAPT_OK)
        texts->translations = texts_of((const char *const *)texts->hypothesis.line, texts->hypothesis.count, err);
    return code || texts->translations ? code : RAPT_ERR_MEMORY;
}

static void free_texts(struct texts *texts)
{
    for (size_t r = 0; r < texts->count; r++) {
        lines_free(&texts->references[r]);
        free(texts->scored[r]);
    }
    lines_free(&texts->hypothesis);
    free(texts->references);
    free(texts->translations);
    free(texts->scored);
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
    const rapt_metric_texts scored = {.translations = texts->translations + first, .references = texts->columns,
                                      .reference_count = texts->count, .segment_count = count};
    rapt_bleu bleu;
    double chrf;
    rapt_code code = RAPT_OK;
    for (size_t r = 0; r < texts->count; r++)
        texts->columns[r] = texts->scored[r] + first;
    if (args->metric <= METRIC_BLEU) {
        code = rapt_bleu_corpus(&args->bleu, &scored, &bleu, err);
        code = code == RAPT_OK ? print_score(args, bleu.score, &bleu, err) : code;
    }
    if (args->metric == METRIC_BLEU || code != RAPT_OK)
        return code;
    code = rapt_chrf_corpus(&args->chrf, &scored, &chrf, err);
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
        score_warn_of_script(path_or_stdin(args->references[0]), texts->scored[0], texts->references[0].count,
                             args->bleu.tokenize);
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
    struct arguments args = {.bleu = rapt_bleu_options_default(), .chrf = rapt_chrf_options_default()};
    struct texts texts = {0};
    rapt_error err = {0};
    options_parse(&score_command, argc, argv, &args);
    rapt_code code = cmd_score_run(&args, &texts, &err);
    free_texts(&texts);
    return code ? cli_fail(&err) : 0;
}
