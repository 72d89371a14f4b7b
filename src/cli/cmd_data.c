/* cli/cmd_data.c: `rapt data check`: statistics of a file of sentence pairs, and which lines have defects, before training.
 * data/check has the checks; conversations have data_conversations.c. */
#include "cli/cli.h"
#include "base/disk.h"
#include "cli/data_conversations.h"
#include "cli/data_sieve.h"
#include "cli/put_json.h"
#include "cli/say.h"
#include "cli/commands.h"
#include "data/check/check_filter.h"
#include "data/check/check_rules.h"
#include "data/check/check_unspaced.h"
#include "text/text_in.h"
#include "text/utf8.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIFTH = 5, RATIO = 3, MARGIN = 20 };

typedef struct data_arguments {
    char *path[2], *out[2];
    const char *rules;
    size_t count;
    check_options check;
    conversations_check of_conversations;
    bool conversations, json, lines;
} data_arguments;

#define ARGUMENTS data_arguments
static const cli_option OPTIONS[] = {
    OPTION_NUMBER("ratio", "X", AT(check.ratio), 1, 1e6, "Maximum ratio of a side's length to the expected length (default 3)"),
    OPTION_NUMBER("margin", "N", AT(check.margin), 0, 1e9, "Differences of up to N characters are always allowed (default 20)"),
    OPTION_TEXT("rules", "LIST", AT(rules), "Only these defects count, comma-separated, by their names in JSON: a recipe's "
                "data.filter.rules (default all)"),
    OPTION_FLAG("json", AT(json), "Print a JSON object", .not_with = "lines"),
    OPTION_FLAG("lines", AT(lines), "Print only the numbers of lines with defects, each with a tab and the defects",
                .not_with = "show"),
    OPTION_TEXT("out", "FILE", AT(out), "Write the clean lines there; of two files SOURCE:TARGET"),
    OPTION_HEADING("Conversations"),
    OPTION_FLAG("conversations", AT(conversations), "The file has conversations, whatever its name is", .not_with = "out"),
    OPTION_TEXT("model", "MODEL", AT(of_conversations.model), "Also render and tokenize them as fine-tuning of MODEL does"),
    OPTION_COUNT("show", "N", AT(of_conversations.show), 0, 1e9, "Print the tokens of the first N, + those that carry "
                 "loss, - others",
                 .needs = "model", .not_with = "json"),
    {0}};

/* Splits FILE:FILE in place. */
static bool cmd_data_split(char *path[2])
{
    char *colon = path[0] + disk_list_part(path[0], ":");
    if (!*colon)
        return false;
    *colon = '\0';
    path[1] = colon + 1;
    return true;
}

static void cmd_data_check_out(data_arguments *a)
{
    if (a->count == 2 && !cmd_data_split(a->out))
        usage_error("--out: two input files need two output files, SOURCE:TARGET");
    if (a->count == 2 && strcmp(a->out[0], a->out[1]) == 0)
        usage_error("--out: both output files are %s", a->out[0]);
}

static void cmd_data_check_rules(data_arguments *a)
{
    const char *unknown;
    char names[CHECK_RULES_TEXT];
    size_t size;
    check_rules_list(names);
    if (!check_rules_read(a->rules, &a->check.rules, &unknown, &size) || !a->check.rules)
        usage_error("--rules: '%s' is none; there are all, or %s", a->rules, names);
}

/* Options of pairs have no effect on conversations, and the other way round. */
static void cmd_data_check_kind(data_arguments *a)
{
    for (size_t i = 0; i < a->count; i++)
        a->conversations = a->conversations || data_conversations_name(a->path[i]);
    a->of_conversations.path = a->path[0], a->of_conversations.json = a->json, a->of_conversations.lines = a->lines;
    if (a->conversations && a->count == 2)
        usage_error("conversations are one file: check each alone");
    if (a->conversations && (a->out[0] || a->check.ratio != RATIO || a->check.margin != MARGIN || a->rules))
        usage_error("--out, --ratio, --margin and --rules are for sentence pairs; the file has conversations");
    if (!a->conversations && a->of_conversations.model)
        usage_error("--model is for conversations: files whose names end in .jsonl, or any with --conversations");
}

static void cmd_data_finish(void *arguments)
{
    data_arguments *a = arguments;
    bool there;
    char **paths = options_operands(&a->count);
    if (a->count > 2)
        usage_error("extra operand: takes one file or two");
    for (size_t i = 0; i < a->count; i++)
        a->path[i] = paths[i];
    if (a->count == 1 && file_is_there(a->path[0], &there, NULL) == RAPT_OK && !there) /* otherwise reading it will say why */
        a->count += cmd_data_split(a->path); /* as recipes name two files */
    if (a->count == 2 && strcmp(a->path[0], "-") == 0 && strcmp(a->path[1], "-") == 0)
        usage_error("only one of the files can be standard input");
    cmd_data_check_kind(a);
    if (a->rules)
        cmd_data_check_rules(a);
    if (a->out[0])
        cmd_data_check_out(a);
}

static const cli_command data_check_command = {
    .options = OPTIONS, .operands = "PAIRS\nSOURCE TARGET\nSOURCE:TARGET\nCONVERSATIONS.jsonl",
    .about = "Print statistics and defects of a parallel corpus, or of conversations; with --out, write the clean lines.",
    .notes = "PAIRS has lines `source<TAB>target`; SOURCE and TARGET are files whose lines are pairs; - is standard input. "
             "Training itself skips only empty lines and pairs with an empty side; --out skips all lines with defects. A line "
             "with several defects counts for each, and as new for the first of them; only lines with text on both sides are "
             "compared with others. A script is unusual if most letters of a side belong to another one than most letters of "
             "that side in the whole file. The expected length, in characters, is the other side's times the median of the "
             "pairs' length ratios. Conversations are JSON lines, as the recipe's data.conversations has them, or its "
             "data.preferences: then the first line has \"chosen\" and \"rejected\".",
    .least = 1, .missing = "PAIRS, or SOURCE and TARGET", .finish = cmd_data_finish};

static const char *const NAMES[2] = {"source", "target"};
#define TEXT(name, key, text) text,
static const char *const TEXTS[CHECK_COUNT] = {CHECK_REASONS(TEXT) CHECK_NOTES(TEXT)};
#undef TEXT

/* ---- tables -------------------------------------------------------------------------------------------------- */

static void print_side(const char *name, const check_side *s)
{
    printf("%-8s %7.1f %7zu %7zu   %7.1f %7zu %7zu   ", name, s->words.mean, s->words.median, s->words.max,
           s->characters.mean, s->characters.median, s->characters.max);
    if (s->script)
        printf("%s, %.2f %% of letters\n", s->script, 100 * s->share);
    else
        printf("-\n");
}

static void print_finding(unsigned k, const check_finding *f)
{
    printf("%-30s %9zu ", TEXTS[k], f->lines);
    if (k < CHECK_REASON_COUNT)
        printf("%9zu ", f->newly);
    else
        printf("%9s ", "");
    if (f->first)
        printf("%10zu\n", f->first);
    else
        printf("%10s\n", "-");
}

static void cmd_data_print_report(const data_arguments *a, const check_report *r)
{
    for (size_t i = 0; i < a->count; i++) {
        fputs(i ? " and " : "", stdout);
        cli_print_clean(stdout, a->path[i]);
    }
    printf(": %zu line%s, %zu pair%s\n\n", r->lines, cli_plural(r->lines), r->pairs, cli_plural(r->pairs));
    printf("%-8s %-26s%-26sscript\n%-8s %7s %7s %7s   %7s %7s %7s\n", "", "  words", "  characters", "", "mean", "median",
           "most", "mean", "median", "most");
    for (size_t s = 0; s < 2; s++)
        print_side(NAMES[s], &r->side[s]);
    printf("\n%-30s %9s %9s %10s\n", "better left out", "lines", "new", "first line");
    for (unsigned k = 0; k < CHECK_REASON_COUNT; k++)
        if (a->check.rules >> k & 1)
            print_finding(k, &r->found[k]);
    printf("%-30s %9s %9zu, which leaves %zu\n\n", "in all", "", r->dropped, r->lines - r->dropped);
    printf("%-30s %9s %9s %10s\n", "in what is left", "lines", "", "first line");
    for (unsigned k = CHECK_REASON_COUNT; k < CHECK_COUNT; k++)
        print_finding(k, &r->found[k]);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

static json_t *json_lengths(const check_lengths *l)
{
    return json_pack("{s:f, s:I, s:I}", "mean", l->mean, "median", (json_int_t)l->median, "max", (json_int_t)l->max);
}

static json_t *json_side(const check_side *s)
{
    return json_pack("{s:o, s:o, s:s?, s:f}", "words", json_lengths(&s->words), "characters", json_lengths(&s->characters),
                     "script", s->script, "share", s->share);
}

static json_t *json_findings(const check_report *r, unsigned from, unsigned to)
{
    json_t *object = json_object();
    for (unsigned k = from; k < to; k++) {
        const check_finding *f = &r->found[k];
        json_t *one = json_pack("{s:I}", "lines", (json_int_t)f->lines);
        if (k < CHECK_REASON_COUNT)
            json_object_set_new(one, "new", json_integer((json_int_t)f->newly));
        json_object_set_new(one, "first_line", f->first ? json_integer((json_int_t)f->first) : json_null());
        json_object_set_new(object, CHECK_KEYS[k], one);
    }
    return object;
}

static rapt_code cmd_data_print_json(const data_arguments *a, const check_report *r, rapt_error *err)
{
    json_t *files = json_pack("[s, s*]", a->path[0], a->count == 2 ? a->path[1] : NULL);
    json_t *object = json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:o}", "files", files, "lines", (json_int_t)r->lines,
                               "pairs", (json_int_t)r->pairs, "source", json_side(&r->side[0]), "target",
                               json_side(&r->side[1]), "drop", json_findings(r, 0, CHECK_REASON_COUNT), "dropped",
                               (json_int_t)r->dropped, "left", (json_int_t)(r->lines - r->dropped), "keep",
                               json_findings(r, CHECK_REASON_COUNT, CHECK_COUNT));
    if (!object)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a JSON object, or a file name that is not UTF-8");
    return put_json(object, JSON_REAL_PRECISION(9), err);
}

/* ---- the command --------------------------------------------------------------------------------------------- */

static rapt_code check_texts(const data_arguments *a, const check_input *in, check_report *report, rapt_error *err)
{
    sieve s = {.names = a->lines};
    check_options options = a->check;
    options.each = sieve_take;
    options.context = &s;
    rapt_code code = a->out[0] ? sieve_open(&s, in, (const char *const *)a->out, err) : RAPT_OK;
    code = code ? code : check_pairs(in, &options, report, err);
    return sieve_close(&s, code, err);
}

static rapt_code check_files(const data_arguments *a, check_report *report, rapt_error *err)
{
    char *text[2] = {NULL, NULL};
    rapt_code code = RAPT_OK;
    check_input in = {.count = a->count};
    for (size_t i = 0; i < a->count && !code; i++) {
        code = text_in_read(a->path[i], CLI_MAX_TEXT, &text[i], &in.size[i], err);
        in.text[i] = text[i];
        in.name[i] = strcmp(a->path[i], "-") == 0 ? "standard input" : a->path[i];
    }
    if (!code)
        code = check_encoding(&in, err);
    if (!code)
        code = check_texts(a, &in, report, err);
    free(text[0]);
    free(text[1]);
    return code;
}

/* If more than a fifth is dropped, the fault is in the file or in the limits, not in single lines. */
static bool many_are_dropped(const check_report *r)
{
    return r->dropped > r->lines / FIFTH;
}

static void cmd_data_warn(const data_arguments *a, const check_report *r)
{
    if (many_are_dropped(r))
        cli_say("rapt: %s: warning: %zu of %zu lines are better left out: look at some of them (--lines) before you believe it\n",
                a->path[0], r->dropped, r->lines);
    for (size_t s = 0; s < 2; s++) {
        double characters = check_unspaced_side(&r->side[s]);
        if (characters > 0)
            cli_say("rapt: %s: warning: the %s: " CHECK_UNSPACED_WARNING "tokenizer.type characters or bpe\n",
                    a->path[a->count == 2 ? s : 0], NAMES[s], characters);
    }
}

static int data_check(int argc, char **argv)
{
    check_report report;
    rapt_error err = {0};
    data_arguments a = {.check = {.ratio = RATIO, .margin = MARGIN, .rules = CHECK_ANY_REASON}};
    options_parse(&data_check_command, argc, argv, &a);
    if (a.conversations)
        return data_conversations_check(&a.of_conversations, &err) ? cli_fail(&err) : 0;
    rapt_code code = check_files(&a, &report, &err);
    if (!code)
        cmd_data_warn(&a, &report);
    if (!code && a.json)
        code = cmd_data_print_json(&a, &report, &err);
    else if (!code && !a.lines)
        cmd_data_print_report(&a, &report);
    return code ? cli_fail(&err) : 0;
}

static const cli_subcommand PARTS[] = {{"check", data_check, &data_check_command}};
const cli_subcommands data_parts = {
    PARTS, 1, "`check`", "check ...", "Check data before training on it.",
    "check PAIRS, or check SOURCE TARGET, prints statistics and defects of sentence pairs, and writes the clean ones; it has "
    "a --help of its own."};

int cmd_data(int argc, char **argv)
{
    return subcommands_run(&data_parts, argc, argv);
}
