/* cli/cmd_translate.c: `rapt translate`: lines in, lines out, block by block: texts larger than the memory, pipes that
 * stay open, and input typed at a terminal. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/memory_stream.h"
#include "base/texts.h"
#include "cli/cli_model.h"
#include "cli/document_lines.h"
#include "cli/lines_out.h"
#include "cli/sampling_options.h"
#include "cli/say.h"
#include "cli/translation_out.h"
#include "cli/unknown_words.h"
#include "decode/prefixes.h"
#include "io/model_core.h"
#include "rapt/decode.h"
#include "rapt/markup.h"
#include "text/json_text.h"
#include "text/line_stream.h"
#include "text/lines.h"
#include "text/prose/detokenize.h"
#include "text/text_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches of lines that are sorted by length together. */
#define BLOCK_BATCHES 64
#define MAX_SUPPRESS 256
#define MAX_OTHERS 63

typedef struct translate_arguments {
    const char *model, *file, *text, *prefix_file, *adapter, *glossary_file;
    const char *suppress[MAX_SUPPRESS];
    size_t suppress_count;
    const char *ensemble[MAX_OTHERS];
    size_t ensemble_count;
    cli_heads without;
    rapt_model *others[MAX_OTHERS]; /* [ensemble_count] or fewer, after a failure */
    rapt_text line;        /* `text` */
    rapt_model *m;
    struct lines prefixes; /* lines of prefix_file */
    rapt_text *prefix;     /* [prefixes.count] */
    rapt_glossary *glossary;
    rapt_translate_options o;
    rapt_markup_options markup;
    bool quiet, strict, tokens, json, html, xml, no_outline;
    bool lists; /* --n-best was given: hypotheses with their scores */
    alignment_kind alignment;
} translate_arguments;

static void take_language(const cli_option *o, void *in, const char *text)
{
    translate_arguments *a = in;
    if (!detokenize_language(text, &a->o.detokenize))
        usage_error("--%s: '%s' is none of none, de, en, es, fr, it, nl, pt", o->name, text);
    a->o.as_tokens = a->o.detokenize == RAPT_LANGUAGE_NONE;
}

#define ARGUMENTS translate_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("text", "TEXT", AT(text), "This line, in place of FILE"),
    OPTION_FLAG("html", AT(html), "FILE is one document of HTML: the text between its tags is translated, and the tags are where "
                "their words are in the translation", .not_with = "xml"),
    OPTION_FLAG("xml", AT(xml), "The same for a document of XML"),
    OPTION_TEXT("ignore-tags", "NAMES", AT(markup.ignore), "With --html or --xml: elements that are not translated, with commas "
                "between"),
    OPTION_TEXT("splitting-tags", "NAMES", AT(markup.splitting), "Tags at which sentences end"),
    OPTION_TEXT("non-splitting-tags", "NAMES", AT(markup.non_splitting), "Tags at which they do not"),
    OPTION_FLAG("no-outline-detection", AT(no_outline), "Sentences end at --splitting-tags only"),
    OPTION_TEXT("from", "CODE", AT(o.source_language), "Language of the input, as a multilingual Hugging Face model names it "
                "(deu_Latn, de_DE)"),
    OPTION_TEXT("to", "CODE", AT(o.target_language), "Language to translate to, so too; an unknown one is refused with a list"),
    OPTION_COUNT("beam", "N", AT(o.beam), 1, 1024, "Beam size: beam search over N hypotheses (default 1: greedy search; of a "
                 "Hugging Face folder, what its generation_config.json says)"),
    OPTION_NUMBER("length-penalty", "A", AT(o.length_penalty), -10, 10, "Length penalty: hypotheses are ranked by log p / ((5 + "
                  "length) / 6)^A (default 1); with a Hugging Face folder by log p / length^A"),
    OPTION_NUMBER("coverage-penalty", "B", AT(o.coverage_penalty), 0, 10, "Rank finished hypotheses by their score + B "
                  "sum log(min(attention to a source token, 1)), so that less is left out (default 0: off)"),
    OPTION_NUMBER("patience", "P", AT(o.patience), 0.01, 16, "End a beam search once beam size * P hypotheses have ended "
                  "(default: once no other can win; for a Hugging Face folder, as it says)"),
    OPTION_COUNT("n-best", "N", AT(o.n_best), 1, 1024, "Print the N best hypotheses, each as LINE<tab>SCORE<tab>TEXT; at most "
                 "the beam size"),
    OPTION_FLAG("alternatives", AT(o.alternatives), "With --n-best: alternatives at a position: the N most probable tokens "
                "after the prefix, each continued greedily", .needs = "n-best"),
    OPTION_COUNT("no-repeat-ngram", "N", AT(o.no_repeat), 0, 1024, "No n-gram of N tokens is repeated within a translation; 0: "
                 "they may be (default, but for a Hugging Face folder that says otherwise)"),
    OPTION_NUMBER("max-length-ratio", "R", AT(o.max_ratio), 0.01, 1000, "Maximum length: R times the tokens of the source, plus "
                  "10 (default 2; for a Hugging Face folder, its own limit)"),
    OPTION_COUNT("min-length", "N", AT(o.min_length), 0, 65536, "Minimum length: a translation does not end before N tokens, "
                 "without its prefix (default 0; for a Hugging Face folder, its own)"),
    OPTION_TABLE(sampling_options_rows, AT(o.sample)),
    OPTION_TEXTS("suppress", "TEXT", AT(suppress), AT(suppress_count), MAX_SUPPRESS, "No translation has TEXT, as the tokens "
                 "that the model's tokenizer makes of it; can be repeated"),
    OPTION_TEXT("glossary", "FILE", AT(glossary_file), "Forced terms: lines of FILE are SOURCE<tab>TARGET; the translation of a "
                "line that has SOURCE contains TARGET (beam search with a beam of 8 or more for such a line)"),
    OPTION_TEXT("prefix", "TEXT", AT(o.prefix), "Forced prefix: every translation begins with TEXT", .not_with = "prefix-file"),
    OPTION_TEXT("prefix-file", "FILE", AT(prefix_file), "Forced prefixes: line N of FILE is for line N of the input; empty: "
                "none"),
    OPTION_WORD("alignment", "KIND", AT(alignment), ALIGNMENT_HARD, "hard, soft, words", "Append to each translation a tab "
                "and its word alignment, from cross-attention: hard, soft (attention weights), or words: hard, with subwords "
                "joined to words"),
    OPTION_FLAG("tokens", AT(tokens), "Append to each translation a tab and the source tokens, a tab and the target tokens"),
    OPTION_FLAG("replace-unknown", AT(o.replace_unknown), "Replace each unknown word of a translation by the source word that it "
                "attends to most, as it stands in the line"),
    OPTION_WORD("split", "LINES", AT(o.split), RAPT_SENTENCE_SPLIT_LONG, "long, sentences", "Lines that are translated "
                "sentence by sentence: long, those beyond the model's maximum length; sentences, all of several (default: as "
                "the model was trained)"),
    OPTION_COUNT("batch", "N", AT(o.batch), 1, 65536, "Batch size in sentences (default 64); the result does not depend on it"),
    OPTION_TEXTS("ensemble", "MODEL", AT(ensemble), AT(ensemble_count), MAX_OTHERS, "Translate with this model, too: a token has "
                 "the mean of the log-probabilities of all models, which have the same vocabularies; can be repeated"),
    CLI_OPTION_ADAPTER(AT(adapter)),
    CLI_OPTION_WITHOUT_HEAD(AT(without.names), AT(without.count)),
    CLI_OPTION_PRECISION(AT(o.compute.type), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.compute.weights), AT(o.compute.type), CLI_WEIGHTS),
    CLI_OPTION_KV_CACHE(AT(o.compute.kv_cache), CLI_KV_CACHE),
    CLI_OPTION_THREADS(AT(o.compute.threads)),
    OPTION_TAKE("detokenize", "LANGUAGE", take_language, "Detokenize the output for de, en, es, fr, it, nl or pt; none: print "
                "the model's tokens (default: the model folder's)", .words = "de, en, es, fr, it, nl, pt, none"),
    OPTION_FLAG("strict", AT(strict), "Unknown words, lines that would be truncated, and terms that cannot be forced are errors; "
                "so are, without --split, lines beyond the maximum length of a Hugging Face model"),
    OPTION_FLAG("json", AT(json), "Print a JSON object for each line: line, text, truncated, unknown_words and hypotheses, "
                "each with text, score and log_prob; with --tokens and --alignment those, as POST /v1/translate of rapt serve "
                "has them"),
    OPTION_FLAG("quiet", AT(quiet), "No warnings"),
    {0}};

/* The texts of --suppress as lines; they last as long as the program. */
static const char *join_suppressed(const translate_arguments *a)
{
    size_t size = 1;
    for (size_t i = 0; i < a->suppress_count; i++)
        size += strlen(a->suppress[i]) + 1;
    char *lines = calloc(1, size), *to = lines;
    if (!lines)
        usage_error("out of memory for --suppress");
    for (size_t i = 0; i < a->suppress_count; i++) {
        if (strpbrk(a->suppress[i], "\r\n") || !*a->suppress[i])
            usage_error("--suppress takes one line of text");
        to += sprintf(to, "%s\n", a->suppress[i]);
    }
    return lines;
}

/* A document has one text. */
static void check_document(translate_arguments *a)
{
    static const char *const others[] = {"n-best", "alternatives", "prefix", "prefix-file", "alignment", "tokens", "json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (options_given(others[i]))
            usage_error("--%s is for lines, not for a document: without --%s", others[i], a->html ? "html" : "xml");
    a->o.alignment = a->o.tokens = a->o.spans = true;
    a->markup.kind = a->xml ? RAPT_MARKUP_XML : RAPT_MARKUP_HTML;
    a->markup.outline = !a->no_outline;
}

static void cmd_translate_finish(void *arguments)
{
    translate_arguments *a = arguments;
    a->lists = options_given("n-best");
    a->o.alignment = a->alignment != ALIGNMENT_NONE;
    a->o.tokens = a->tokens || a->alignment == ALIGNMENT_WORDS;
    if (a->html || a->xml)
        check_document(a);
    else if (a->markup.ignore || a->markup.splitting || a->markup.non_splitting || a->no_outline)
        usage_error("tags are of documents: with --html or --xml only");
    sampling_options_finish(&a->o.sample);
    if (a->suppress_count)
        a->o.suppress = join_suppressed(a);
    if (a->text)
        cli_check_text(a->text, a->file);
    a->line = rapt_text_of(a->text);
    if (a->json && a->alignment == ALIGNMENT_WORDS)
        usage_error("--alignment words is for text; --json has hard or soft");
    if (a->prefix_file && strcmp(a->prefix_file, "-") == 0 && (!a->file || strcmp(a->file, "-") == 0))
        usage_error("only one of the lines and their prefixes can be standard input");
    const char *sampling = sampling_options_given();
    if (sampling && (options_given("beam") ? a->o.beam : a->o.n_best) > 1)
        usage_error("--%s makes one translation of each line: not with --beam above 1 or --n-best", sampling);
    if (options_given("beam") && a->o.n_best > a->o.beam) /* without --beam the model's own beam applies */
        usage_error("--n-best %zu needs --beam %zu or more", a->o.n_best, a->o.n_best);
}

const cli_command translate_command = {
    .options = OPTIONS, .operands = "MODEL [FILE]",
    .about = "Translate the lines of FILE, or of standard input, or TEXT, with a trained model.",
    .notes = "Any of --temperature, --top-k, --top-p, --min-p and --typical-p draws the translations at random, as for "
             "back-translation.",
    .least = 1, .missing = "MODEL", .most = 2, .takes = "a model and one file", .operand = {AT(model), AT(file)},
    .finish = cmd_translate_finish};

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

static void warn_of(const translate_arguments *a, size_t line, const rapt_translation *t)
{
    if (t->cut && !a->quiet)
        cli_say("rapt: %s:%zu: longer than the model takes, with no place to split; something is cut off\n",
                input_name(a), line);
    else if (is_split_unasked(a, t) && !a->quiet)
        cli_say("rapt: %s:%zu: warning: longer than the %zu tokens that the model takes; translated in parts\n", input_name(a),
                line, a->m->translation.max_len);
    if (t->lacks_terms && !a->quiet)
        cli_say("rapt: %s:%zu: warning: a term of %s could not be forced\n", input_name(a), line, a->glossary_file);
}

static bool print_translation(const translate_arguments *a, size_t line, const rapt_translation *t, FILE *to)
{
    warn_of(a, line, t);
    if (a->json)
        return print_json(a, line, t, to);
    if (!a->lists)
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
    memory_stream text;
    FILE *to = memory_stream_open(&text);
    bool ok = to != NULL;
    for (size_t i = 0; ok && i < b->count; i++)
        ok = print_translation(a, b->first + i, &t[i], to);
    ok = memory_stream_close(&text) && ok;
    rapt_code code = RAPT_OK;
    if (!ok)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text");
    else
        code = lines_out(text.text, text.size, err);
    free(text.text);
    return code;
}

/* With --strict, refuses lines that are too long, or lack a term; without it, a warning comes when the line is printed. */
static rapt_code check_cut(const translate_arguments *a, const line_block *b, const rapt_translation *t, rapt_error *err)
{
    for (size_t i = 0; a->strict && i < b->count; i++)
        if (t[i].lacks_terms)
            return rapt_fail(err, RAPT_ERR_VALUE, "line %zu has a term of %.200s that could not be forced", b->first + i,
                             a->glossary_file);
        else if (t[i].cut)
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
        rapt_code code = unknown_words_check(u, b->first + i, b->line[i].data, err);
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
    if (a->prefix_file && a->prefixes.count < before + b->count)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s ends after %zu line%s", a->prefix_file, a->prefixes.count,
                         cli_plural(a->prefixes.count));
    const rapt_translator_request request = {.prefixes = a->prefix_file ? a->prefix + before : NULL, .first_line = before};
    return rapt_translator_run(t, &request, b->line, b->count, out, err);
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
    *b = (line_block){.line = &a->line, .count = b->first == 0, .first = b->first + 1};
    return RAPT_OK;
}

static rapt_code translate_stream(const translate_arguments *a, rapt_translator *t, line_stream *in, rapt_error *err)
{
    unknown_words unknown = {.k = a->m->translation.source, .name = input_name(a), .strict = a->strict, .quiet = a->quiet,
                             .specials = a->m->translation.specials_in_text};
    size_t max_lines = a->o.batch * BLOCK_BATCHES;
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

/* ---- documents ---------------------------------------------------------------------------------------------------------- */

/* A document with its texts. */
typedef struct numbered_document {
    rapt_markup *m;
    line_block *texts; /* as of document_lines */
} numbered_document;

static rapt_code print_document(const translate_arguments *a, const numbered_document *d, const rapt_translation *t,
                                rapt_error *err)
{
    char *text;
    size_t size;
    for (size_t i = 0; i < rapt_markup_count(d->m); i++)
        warn_of(a, d->texts[i].first, &t[i]);
    rapt_code code = rapt_markup_write(d->m, t, 0, &text, &size, err);
    if (!code && a->text)
        text[size++] = '\n'; /* in place of the NUL */
    code = code ? code : lines_out(text, size, err);
    free(text);
    return code;
}

static rapt_code check_document_words(const translate_arguments *a, const numbered_document *d, rapt_error *err)
{
    unknown_words unknown = {.k = a->m->translation.source, .name = input_name(a), .strict = a->strict, .quiet = a->quiet,
                             .specials = a->m->translation.specials_in_text};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_markup_count(d->m) && !code; i++)
        code = check_words(&unknown, &d->texts[i], err);
    unknown_words_end(&unknown);
    return code;
}

static rapt_code translate_texts(const translate_arguments *a, rapt_translator *t, const numbered_document *d, rapt_error *err)
{
    const size_t count = rapt_markup_count(d->m);
    rapt_translation *out = calloc(count + 1, sizeof *out);
    rapt_code code = out ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    code = code ? code : rapt_translator_run(t, NULL, rapt_markup_lines(d->m), count, out, err);
    if (!code) {
        for (size_t i = 0; i < count && !code; i++)
            code = check_cut(a, &d->texts[i], out + i, err);
        code = code ? code : print_document(a, d, out, err);
        rapt_translations_free(out, count);
    }
    free(out);
    return code;
}

static rapt_code translate_document(const translate_arguments *a, rapt_translator *t, rapt_error *err)
{
    rapt_error why = {0};
    char *own = NULL;
    rapt_text text = a->line;
    if (!a->text) {
        if (text_in_read(a->file ? a->file : "-", RAPT_MARKUP_BYTES, &own, &text.size, err))
            return err->code;
        text.data = own;
    }
    numbered_document d = {.m = rapt_markup_parse(text, &a->markup, &why)};
    rapt_code code = !d.m ? why.code : (d.texts = document_lines(d.m, text, &why)) ? RAPT_OK : why.code;
    const rapt_code words = code ? RAPT_OK : check_document_words(a, &d, err);
    code = code || words ? code : translate_texts(a, t, &d, &why);
    rapt_markup_free(d.m);
    free(d.texts);
    free(own);
    return code ? rapt_fail(err, code, "cannot translate %.200s: %s", input_name(a), why.message) : words;
}

/* Reads all prefixes before the first translation, so that an error can give the number of the wrong line. */
static rapt_code read_prefixes(translate_arguments *a, rapt_error *err)
{
    rapt_error why = {0};
    if (!a->prefix_file)
        return RAPT_OK;
    rapt_code code = lines_read(a->prefix_file, CLI_MAX_TEXT, &a->prefixes, err);
    a->prefix = code ? NULL : texts_of((const char *const *)a->prefixes.line, a->prefixes.count, err);
    code = code || a->prefix ? code : RAPT_ERR_MEMORY;
    for (size_t i = 0; !code && i < a->prefixes.count; i++) {
        prefixes p;
        if (prefixes_encode(&p, a->m, &a->m->search, &a->prefix[i], 1, &why))
            code = rapt_fail(err, why.code, "%.200s:%zu: %s", a->prefix_file, i + 1, why.message);
        else
            prefixes_free(&p);
    }
    return code;
}

static bool load_glossary(translate_arguments *a, rapt_error *err)
{
    if (a->glossary_file)
        a->o.glossary = a->glossary = rapt_glossary_load(a->glossary_file, err);
    return a->glossary || !a->glossary_file;
}

/* --ensemble. The adapter is the first model's. */
static bool load_others(translate_arguments *a, rapt_error *err)
{
    for (; a->o.other_count < a->ensemble_count; a->o.other_count++) {
        rapt_model *other = cli_model_inference(a->ensemble[a->o.other_count], NULL, RAPT_TASK_TRANSLATION, err);
        if (!other)
            return false;
        a->others[a->o.other_count] = other;
    }
    a->o.others = (const rapt_model *const *)a->others;
    return true;
}

static void free_models(translate_arguments *a)
{
    for (size_t i = 0; i < a->o.other_count; i++)
        rapt_model_free(a->others[i]);
    rapt_model_free(a->m);
}

int cmd_translate(int argc, char **argv)
{
    translate_arguments a = {.o = rapt_translate_options_default(), .markup = rapt_markup_options_default()};
    rapt_error err = {0};
    options_parse(&translate_command, argc, argv, &a);
    cli_warn_threads(a.o.compute.threads, a.quiet);
    rapt_model *m = cli_model_inference(a.model, a.adapter, RAPT_TASK_TRANSLATION, &err);
    m = a.m = cli_model_without(m, &a.without, &err);
    bool ok = m && load_others(&a, &err) && load_glossary(&a, &err) && read_prefixes(&a, &err) == RAPT_OK;
    const bool document = a.html || a.xml;
    line_stream *in = ok && !a.text && !document ? cli_open_lines(a.file, &err) : NULL;
    rapt_translator *t = in || (ok && (a.text || document)) ? rapt_translator_new(m, &a.o, &err) : NULL;
    ok = t && (document ? translate_document(&a, t, &err) : translate_stream(&a, t, in, &err)) == RAPT_OK;
    rapt_translator_free(t);
    line_stream_free(in);
    lines_free(&a.prefixes);
    free(a.prefix);
    rapt_glossary_free(a.glossary);
    free_models(&a);
    return ok ? 0 : cli_fail(&err);
}
