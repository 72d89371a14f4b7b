/* cli/cmd_translate.c: `rapt translate`: lines in, lines out, block by block: texts larger than the memory, pipes that
 * stay open, and input typed at a terminal. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/alignment.h"
#include "cli/cli_model.h"
#include "cli/lines_out.h"
#include "cli/say.h"
#include "cli/translation_json.h"
#include "cli/unknown_words.h"
#include "decode/prefixes.h"
#include "rapt/decode.h"
#include "text/line_stream.h"
#include "text/lines.h"
#include "text/json_text.h"
#include "text/prose/detokenize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches of lines that are sorted by length together. */
#define BLOCK_BATCHES 64

enum { KEY_BEAM = 256, KEY_LENGTH_PENALTY, KEY_N_BEST, KEY_BATCH, KEY_DETOKENIZE, KEY_NO_REPEAT, KEY_MAX_RATIO,
       KEY_PREFIX, KEY_ALIGNMENT, KEY_SPLIT, KEY_STRICT, KEY_PREFIX_FILE, KEY_TOKENS, KEY_FROM, KEY_TO, KEY_TEXT };

static const struct argp_option OPTIONS[] = {
    {"text", KEY_TEXT, "TEXT", 0, "This line, in place of FILE", 0},
    {"from", KEY_FROM, "CODE", 0, "Language of the input, as a multilingual Hugging Face model names it (deu_Latn, de_DE)", 0},
    {"to", KEY_TO, "CODE", 0, "Language to translate to, so too; an unknown one is refused with a list", 0},
    {"beam", KEY_BEAM, "N", 0, "Beam size: beam search over N hypotheses (default 1: greedy search; of a Hugging Face folder, "
                               "what its generation_config.json says)", 0},
    {"length-penalty", KEY_LENGTH_PENALTY, "A", 0, "Length penalty: hypotheses are ranked by log p / ((5 + length) / 6)^A "
                                                   "(default 1); with a Hugging Face folder by log p / length^A", 0},
    {"n-best", KEY_N_BEST, "N", 0, "Print the N best hypotheses, each as LINE<tab>SCORE<tab>TEXT; at most the beam size", 0},
    {"no-repeat-ngram", KEY_NO_REPEAT, "N", 0, "No n-gram of N tokens is repeated within a translation; 0: they may be (default, "
                                             "but for a Hugging Face folder that says otherwise)", 0},
    {"max-length-ratio", KEY_MAX_RATIO, "R", 0, "Maximum length: R times the tokens of the source, plus 10 (default 2; for "
                                               "a Hugging Face folder, its own limit)", 0},
    {"prefix", KEY_PREFIX, "TEXT", 0, "Forced prefix: every translation begins with TEXT", 0},
    {"prefix-file", KEY_PREFIX_FILE, "FILE", 0, "Forced prefixes: line N of FILE is for line N of the input; empty: none", 0},
    {"alignment", KEY_ALIGNMENT, "KIND", 0, "Append to each translation a tab and its word alignment, from cross-attention: "
                                            "hard, soft (attention weights), or words: hard, with subwords joined to words", 0},
    {"tokens", KEY_TOKENS, NULL, 0, "Append to each translation a tab and the source tokens, a tab and the target tokens", 0},
    {"split", KEY_SPLIT, "LINES", 0, "Lines that are translated sentence by sentence: long, those beyond the model's "
                                     "maximum length; sentences, all of several (default: as the model was trained)", 0},
    {"batch", KEY_BATCH, "N", 0, "Batch size in sentences (default 64); the result does not depend on it", 0},
    CLI_OPTION_ADAPTER,
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    CLI_OPTION_WEIGHTS,
    CLI_OPTION_KV_CACHE,
    CLI_OPTION_THREADS,
    {"detokenize", KEY_DETOKENIZE, "LANGUAGE", 0, "Detokenize the output for de, en, es, fr, it, nl or pt; none: print the "
                                                  "model's tokens (default: the model folder's)", 0},
    {"strict", KEY_STRICT, NULL, 0, "Unknown words, and lines that would be truncated, are errors; so are, without --split, "
                                    "lines beyond the maximum length of a Hugging Face model", 0},
    CLI_OPTION_JSON("Print a JSON object for each line: line, text, truncated, unknown_words and hypotheses, each with text, "
                    "score and log_prob; with --tokens and --alignment those, as POST /v1/translate of rapt serve has them"),
    CLI_OPTION_QUIET("No warnings"),
    {0}};

typedef struct translate_arguments {
    const char *model, *file, *text, *prefix_file, *adapter;
    rapt_model *m;
    struct lines prefixes; /* lines of prefix_file */
    rapt_translate_options o;
    bool quiet, strict, tokens, json;
    alignment_kind alignment;
} translate_arguments;

static alignment_kind parse_alignment(const char *text, struct argp_state *state)
{
    alignment_kind kind = alignment_named(text);
    if (kind == ALIGNMENT_NONE)
        cli_usage_error(state, "--alignment: '%s' is none of hard, soft, words", text);
    return kind;
}

static rapt_sentence_split parse_split(const char *text, struct argp_state *state)
{
    if (strcmp(text, "long") == 0)
        return RAPT_SENTENCE_SPLIT_LONG;
    if (strcmp(text, "sentences") != 0)
        cli_usage_error(state, "--split: '%s' is none of long, sentences", text);
    return RAPT_SENTENCE_SPLIT_ALL;
}

static void parse_language(const char *text, rapt_translate_options *o, struct argp_state *state)
{
    if (!detokenize_language(text, &o->detokenize))
        cli_usage_error(state, "--detokenize: '%s' is none of none, de, en, es, fr, it, nl, pt", text);
    o->as_tokens = o->detokenize == RAPT_LANGUAGE_NONE;
}

/* In the library 0 means the default. */
static void take_no_repeat(translate_arguments *a, const char *text, struct argp_state *state)
{
    long n = cli_integer(text, 0, 1024, "no-repeat-ngram", state);
    a->o.no_repeat = n ? (size_t)n : RAPT_NO_REPEAT_OFF;
}

static void cmd_translate_check(translate_arguments *a, struct argp_state *state)
{
    if (!a->model)
        cli_usage_error(state, "missing operand: MODEL");
    if (a->text)
        cli_check_text(a->text, a->file, state);
    if (a->json && a->alignment == ALIGNMENT_WORDS)
        cli_usage_error(state, "--alignment words is for text; --json has hard or soft");
    if (a->o.prefix && a->prefix_file)
        cli_usage_error(state, "--prefix or --prefix-file, not both");
    if (a->prefix_file && strcmp(a->prefix_file, "-") == 0 && (!a->file || strcmp(a->file, "-") == 0))
        cli_usage_error(state, "only one of the lines and their prefixes can be standard input");
    if (a->o.beam > 0 && a->o.n_best > a->o.beam) /* without --beam the model's own beam applies */
        cli_usage_error(state, "--n-best %zu needs --beam %zu or more", a->o.n_best, a->o.n_best);
}

static error_t cmd_translate_parse(int key, char *text, struct argp_state *state)
{
    translate_arguments *a = state->input;
    switch (key) {
    case KEY_BEAM: a->o.beam = (size_t)cli_integer(text, 1, 1024, "beam", state); return 0;
    case KEY_LENGTH_PENALTY:
        a->o.length_penalty = cli_number(text, -10, 10, "length-penalty", state);
        a->o.no_length_penalty = a->o.length_penalty == 0;
        return 0;
    case KEY_N_BEST: a->o.n_best = (size_t)cli_integer(text, 1, 1024, "n-best", state); return 0;
    case KEY_BATCH: a->o.batch = (size_t)cli_integer(text, 1, 65536, "batch", state); return 0;
    case KEY_NO_REPEAT: take_no_repeat(a, text, state); return 0;
    case KEY_MAX_RATIO: a->o.max_ratio = cli_number(text, 0.01, 1000, "max-length-ratio", state); return 0;
    case KEY_PREFIX: a->o.prefix = text; return 0;
    case KEY_PREFIX_FILE: a->prefix_file = text; return 0;
    case KEY_FROM: a->o.source_language = text; return 0;
    case KEY_TO: a->o.target_language = text; return 0;
    case KEY_TEXT: a->text = text; return 0;
    case KEY_TOKENS: a->tokens = true; return 0;
    case KEY_ALIGNMENT: a->alignment = parse_alignment(text, state); return 0;
    case KEY_SPLIT: a->o.split = parse_split(text, state); return 0;
    case CLI_KEY_ADAPTER: a->adapter = text; return 0;
    case CLI_KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_WEIGHTS: a->o.weights = cli_weights(text, &a->o.precision, state); return 0;
    case CLI_KEY_KV_CACHE: a->o.kv_cache = cli_kv_cache(text, state); return 0;
    case CLI_KEY_THREADS: a->o.threads = cli_threads(text, state); return 0;
    case KEY_DETOKENIZE: parse_language(text, &a->o, state); return 0;
    case KEY_STRICT: a->strict = true; return 0;
    case CLI_KEY_JSON: a->json = true; return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG: cli_operand(a->model ? &a->file : &a->model, text, "a model and one file", state); return 0;
    case ARGP_KEY_END:
        a->o.alignment = a->alignment != ALIGNMENT_NONE;
        a->o.tokens = a->tokens || a->alignment == ALIGNMENT_WORDS;
        cmd_translate_check(a, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = cmd_translate_parse, .args_doc = "MODEL [FILE]",
                                 .doc = "Translate the lines of FILE, or of standard input, or TEXT, with a trained model."};

static const char *input_name(const translate_arguments *a)
{
    return a->text ? "--text" : a->file && strcmp(a->file, "-") != 0 ? a->file : "standard input";
}

static bool print_hypothesis(const translate_arguments *a, const rapt_translation *t, const rapt_hypothesis *h, FILE *to)
{
    bool ok = fputs(h->text, to) >= 0;
    ok = ok && (!a->tokens || alignment_print_tokens(a->m, t, h, to));
    ok = ok && alignment_print(a->alignment, a->m, t, h, to);
    return ok && fputc('\n', to) != EOF;
}

/* A model of Hugging Face sees all of a line in transformers; rapt's own models were trained on sentences. */
static bool is_split_unasked(const translate_arguments *a, const rapt_translation *t)
{
    return t->split && a->m->family && a->o.split == RAPT_SENTENCE_SPLIT_AS_TRAINED;
}

static bool print_json(const translate_arguments *a, size_t line, const rapt_translation *t, FILE *to)
{
    const translation_json j = {a->m, a->tokens, a->alignment != ALIGNMENT_NONE, a->alignment == ALIGNMENT_SOFT};
    json_t *object = translation_json_of(&j, line, t);
    char *text = json_text(object, JSON_COMPACT);
    bool ok = text && fprintf(to, "%s\n", text) > 0;
    free(text);
    json_decref(object);
    return ok;
}

static bool print_translation(const translate_arguments *a, size_t line, const rapt_translation *t, FILE *to)
{
    if (t->cut && !a->quiet)
        cli_say("rapt: %s:%zu: longer than the model takes, with no place to split; something is cut off\n",
                input_name(a), line);
    else if (is_split_unasked(a, t) && !a->quiet)
        cli_say("rapt: %s:%zu: warning: longer than the %zu tokens that the model takes; translated in parts\n", input_name(a),
                line, a->m->translation.max_len);
    if (a->json)
        return print_json(a, line, t, to);
    if (a->o.n_best == 0)
        return print_hypothesis(a, t, t->count ? &t->hypotheses[0] : &(rapt_hypothesis){.text = ""}, to);
    bool ok = true;
    for (size_t i = 0; i < t->count && ok; i++)
        ok = fprintf(to, "%zu\t%.4f\t", line, t->hypotheses[i].score) > 0 &&
             print_hypothesis(a, t, &t->hypotheses[i], to);
    return ok;
}

/* A block is written with one call, so that an error leaves whole lines. */
static rapt_code print_block(const translate_arguments *a, const line_block *b, const rapt_translation *t, rapt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    bool ok = to != NULL;
    for (size_t i = 0; ok && i < b->count; i++)
        ok = print_translation(a, b->first + i, &t[i], to);
    ok = to && fclose(to) == 0 && ok;
    rapt_code code = RAPT_OK;
    if (!ok)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text");
    else
        code = lines_out(text, size, err);
    free(text);
    return code;
}

/* With --strict, refuses lines that are too long; without it, a warning comes when the line is printed. */
static rapt_code check_cut(const translate_arguments *a, const line_block *b, const rapt_translation *t, rapt_error *err)
{
    for (size_t i = 0; a->strict && i < b->count; i++)
        if (t[i].cut)
            return rapt_fail(err, RAPT_ERR_VALUE, "line %zu is longer than the model takes, with no place to split",
                             b->first + i);
        else if (is_split_unasked(a, &t[i]))
            return rapt_fail(err, RAPT_ERR_VALUE, "line %zu is longer than the %zu tokens that the model takes (--split long "
                             "translates it in parts)", b->first + i, a->m->translation.max_len);
    return RAPT_OK;
}

/* The block ends before a line that is refused. */
static rapt_code check_words(unknown_words *u, line_block *b, rapt_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        rapt_code code = unknown_words_check(u, b->first + i, b->line[i], err);
        if (code) {
            b->count = i;
            return code;
        }
    }
    return RAPT_OK;
}

static rapt_code run_translator(const translate_arguments *a, rapt_translator *t, const line_block *b, rapt_translation *out,
                                rapt_error *err)
{
    size_t before = b->first - 1;
    if (!a->prefix_file)
        return rapt_translator_run(t, b->line, b->count, out, err);
    if (a->prefixes.count < before + b->count)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s ends after %zu line%s", a->prefix_file, a->prefixes.count,
                         cli_plural(a->prefixes.count));
    return rapt_translator_run_prefixed(t, b->line, (const char *const *)a->prefixes.line + before, b->count, out, err);
}

static rapt_code translate_block(const translate_arguments *a, rapt_translator *t, const line_block *b, rapt_error *err)
{
    rapt_error why = {0};
    const char *what = "translate";
    rapt_translation *out = calloc(b->count, sizeof *out);
    rapt_code code = out ? run_translator(a, t, b, out, &why)
                         : rapt_fail(&why, RAPT_ERR_MEMORY, "out of memory");
    if (!code) {
        code = check_cut(a, b, out, &why);
        what = code ? what : "print the translation of";
        code = code ? code : print_block(a, b, out, &why);
        rapt_translations_free(out, b->count);
    }
    free(out);
    char to[32] = "";
    if (b->count > 1)
        snprintf(to, sizeof to, " to %zu", b->first + b->count - 1);
    return code ? rapt_fail(err, code, "cannot %s line%s %zu%s of %.200s: %s", what, cli_plural(b->count), b->first, to,
                            input_name(a), why.message) : RAPT_OK;
}

/* Without a stream the text is the only line. */
static rapt_code next_block(const translate_arguments *a, line_stream *in, size_t max_lines, line_block *b, rapt_error *err)
{
    if (in)
        return line_stream_next(in, max_lines, b, err);
    *b = (line_block){.line = &a->text, .count = b->first == 0, .first = b->first + 1};
    return RAPT_OK;
}

static rapt_code translate_stream(const translate_arguments *a, rapt_translator *t, line_stream *in, rapt_error *err)
{
    unknown_words unknown = {.k = a->m->translation.source, .name = input_name(a), .strict = a->strict, .quiet = a->quiet,
                             .specials = a->m->translation.specials_in_text};
    size_t max_lines = (a->o.batch ? a->o.batch : RAPT_TRANSLATE_BATCH) * BLOCK_BATCHES;
    line_block block = {.count = 1};
    rapt_code code = RAPT_OK;
    while (!code && block.count > 0) {
        code = next_block(a, in, max_lines, &block, err);
        rapt_code words = code ? RAPT_OK : check_words(&unknown, &block, err);
        if (!code && block.count > 0)
            code = translate_block(a, t, &block, words ? NULL : err);
        code = words ? words : code;
    }
    unknown_words_end(&unknown);
    if (!code && a->prefix_file && a->prefixes.count > block.first - 1)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s has %zu lines, but %s %zu", a->prefix_file, a->prefixes.count, input_name(a),
                         block.first - 1);
    return code;
}

/* Reads all prefixes before the first translation, so that an error can give the number of the wrong line. */
static rapt_code read_prefixes(translate_arguments *a, rapt_error *err)
{
    rapt_error why = {0};
    if (!a->prefix_file)
        return RAPT_OK;
    rapt_code code = lines_read(a->prefix_file, CLI_MAX_TEXT, &a->prefixes, err);
    for (size_t i = 0; !code && i < a->prefixes.count; i++) {
        prefixes p;
        const char *line = a->prefixes.line[i];
        if (prefixes_encode(&p, a->m, &a->m->search, &line, 1, &why))
            code = rapt_fail(err, why.code, "%.200s:%zu: %s", a->prefix_file, i + 1, why.message);
        else
            prefixes_free(&p);
    }
    return code;
}

int cmd_translate(int argc, char **argv)
{
    translate_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    cli_warn_threads(a.o.threads, a.quiet);
    rapt_model *m = a.m = cli_model_inference(a.model, a.adapter, RAPT_TASK_TRANSLATION, &err);
    bool ok = m && read_prefixes(&a, &err) == RAPT_OK;
    line_stream *in = ok && !a.text ? cli_open_lines(a.file, &err) : NULL;
    rapt_translator *t = in || (ok && a.text) ? rapt_translator_new(m, &a.o, &err) : NULL;
    ok = t && translate_stream(&a, t, in, &err) == RAPT_OK;
    rapt_translator_free(t);
    line_stream_free(in);
    lines_free(&a.prefixes);
    rapt_model_free(m);
    return ok ? 0 : cli_fail(&err);
}
