/* cli/options/options.c: reads a command line by the table of its command: first all of it is matched with the rows, then the
 * values are checked and stored, in the order in which they were given. What a command prints as help is in option_help.c. */
#include "cli/options/options.h"

#include "base/number.h"
#include "base/suggest.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64

/* A row, and the struct that has its field. */
typedef struct known_option {
    const cli_option *row;
    char *in;
} known_option;

typedef struct given_option {
    const known_option *known;
    const char *text; /* NULL: no value */
} given_option;

/* The command line that was parsed last. */
static struct {
    known_option known[MAX_OPTIONS];
    size_t known_count;
    given_option *given;
    size_t given_count;
    char **operands;
    size_t operand_count;
} line;

/* ---- the options that there are ---------------------------------------------------------------------------------- */

static bool is_option(const cli_option *o)
{
    return o->kind > OPTION_KIND_TABLE;
}

static void add_known(const cli_option *table, char *in)
{
    for (const cli_option *o = table; o && (o->kind || o->meaning); o++) {
        if (o->kind == OPTION_KIND_TABLE)
            add_known(o->table, in + o->field);
        else if (is_option(o) && line.known_count < MAX_OPTIONS)
            line.known[line.known_count++] = (known_option){o, in};
    }
}

static const known_option *find_short(char letter)
{
    if (letter == '?')
        letter = 'h'; /* as other programs have it */
    for (size_t i = 0; i < line.known_count; i++)
        if (line.known[i].row->letter == letter)
            return &line.known[i];
    return NULL;
}

/* A name may be abbreviated while it fits only one option; `fits` says how many it fits. */
static const known_option *find_long(const char *name, size_t length, size_t *fits)
{
    const known_option *found = NULL;
    *fits = 0;
    for (size_t i = 0; i < line.known_count; i++) {
        const char *names[] = {line.known[i].row->name, line.known[i].row->alias};
        for (size_t j = 0; j < 2 && names[j]; j++) {
            if (strncmp(names[j], name, length) != 0)
                continue;
            if (strlen(names[j]) == length) {
                *fits = 1;
                return &line.known[i];
            }
            *fits += found != &line.known[i];
            found = &line.known[i];
        }
    }
    return found;
}

static const char *nearest_option(const char *name)
{
    const char *names[2 * MAX_OPTIONS];
    size_t count = 0;
    for (size_t i = 0; i < line.known_count; i++) {
        names[count++] = line.known[i].row->name;
        if (line.known[i].row->alias)
            names[count++] = line.known[i].row->alias;
    }
    return suggest_nearest(name, names, count);
}

/* ---- the options that were given --------------------------------------------------------------------------------- */

/* Users often take a key of the recipe for an option: `rapt train r.yaml --epochs 3`. `value`: the option's value, or NULL. */
__attribute__((noreturn)) static void refuse_unknown(const char *name, const char *value)
{
    size_t fits;
    const char *near = nearest_option(name);
    const bool takes_keys = find_long("set", 3, &fits) != NULL && fits == 1;
    const char *key = takes_keys && !(near && suggest_same(near, name)) ? recipe_key_meant(name, value) : NULL;
    if (key)
        usage_error("unknown option \"--%s\"; a key of the recipe is set by --set %s=%.60s", name, key, value ? value : "VALUE");
    usage_error("unknown option \"--%s\"%s%s%s", name, near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

static void add_given(const known_option *known, const char *text)
{
    line.given[line.given_count++] = (given_option){known, text};
}

static bool takes_next(const cli_option *o)
{
    return o->argument && o->argument[0] != '[';
}

/* Whether an argument is an option of this command by its full name, so that it can hardly be meant as a value. */
static bool is_known(const char *text)
{
    size_t fits, length = strcspn(text, "=");
    const known_option *known = length > 2 && strncmp(text, "--", 2) == 0 ? find_long(text + 2, length - 2, &fits) : NULL;
    return known && (strlen(known->row->name) == length - 2 || (known->row->alias && strlen(known->row->alias) == length - 2));
}

__attribute__((noreturn)) static void refuse_without_value(const cli_option *o, const char *next)
{
    if (next)
        usage_error("option --%s needs a value; if %.60s is the value: --%s=%.60s", o->name, next, o->name, next);
    usage_error("option --%s needs a value: --%s %s", o->name, o->name, o->argument);
}

/* Returns whether the next argument is the option's value. `next` NULL: there is no next argument. */
static bool read_long(const char *text, const char *next)
{
    char name[64];
    size_t fits, length = strcspn(text, "=");
    const known_option *known = find_long(text, length, &fits);
    const char *value = text[length] ? text + length + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text);
    if (fits > 1)
        usage_error("ambiguous option \"--%s\": --%s and others", name, known->row->name);
    if (!known)
        refuse_unknown(name, value ? value : next && next[0] != '-' ? next : NULL);
    const cli_option *o = known->row;
    if (!o->argument && value)
        usage_error("option --%s takes no value", o->name);
    if (takes_next(o) && !value && (!next || is_known(next)))
        refuse_without_value(o, next);
    add_given(known, value || !takes_next(o) ? value : next);
    return takes_next(o) && !value;
}

/* Letters without values may stand together: -sx. */
static bool read_short(const char *letters, const char *next)
{
    for (; *letters; letters++) {
        const known_option *known = find_short(*letters);
        if (!known)
            usage_error("unknown option \"-%s\"", letters);
        const cli_option *o = known->row;
        if (takes_next(o) && !letters[1] && (!next || is_known(next)))
            usage_error("option -%c needs a value: -%c %s", *letters, *letters, o->argument);
        if (o->argument) {
            const char *value = letters[1] ? letters + 1 : takes_next(o) ? next : NULL;
            add_given(known, value);
            return takes_next(o) && !letters[1];
        }
        add_given(known, NULL);
    }
    return false;
}

/* Matches the command line with the rows. The operands move to the beginning of argv. */
static void read_line(int argc, char **argv)
{
    bool ended = false;
    line.operands = argv + 1;
    for (int i = 1; i < argc; i++) {
        char *text = argv[i];
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (ended || text[0] != '-' || !text[1])
            line.operands[line.operand_count++] = text;
        else if (strcmp(text, "--") == 0)
            ended = true;
        else
            i += text[1] == '-' ? read_long(text + 2, next) : read_short(text + 1, next);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* " from 1 to 64", " of 0 or more", or "" without a limit. An upper limit is also named if a value has exceeded it. */
static void describe_range(const char *low, const char *high, bool is_from, bool is_to, char text[80])
{
    text[0] = '\0';
    if (is_to)
        snprintf(text, 80, " from %s to %s", low, high);
    else if (is_from)
        snprintf(text, 80, " of %s or more", low);
}

long long option_integer(const char *text, long long min, long long max, const char *option)
{
    char *end, range[80], low[NUMBER_TEXT], high[NUMBER_TEXT];
    errno = 0;
    long long value = strtoll(text, &end, 10);
    snprintf(low, sizeof low, "%lld", min);
    snprintf(high, sizeof high, "%lld", max);
    describe_range(low, high, min > -OPTION_ANY, max < OPTION_ANY || errno || value > max, range);
    if (errno || end == text || *end || value < min || value > max)
        usage_error("--%s: '%s' is not a whole number%s", option, text, range);
    return value;
}

double option_number(const char *text, double min, double max, const char *option)
{
    char *end, range[80], low[NUMBER_TEXT], high[NUMBER_TEXT];
    double value = strtod(text, &end);
    number_write(min, low);
    number_write(max, high);
    describe_range(low, high, min > -OPTION_ANY, max < OPTION_ANY || value > max, range);
    if (end == text || *end || !(value >= min && value <= max))
        usage_error("--%s: '%s' is not a number%s", option, text, range);
    return value;
}

static int option_word(const cli_option *o, const char *text)
{
    const size_t length = strlen(text);
    int place = 0;
    for (const char *word = o->words; word; place++) {
        const char *comma = strchr(word, ',');
        if (length == (comma ? (size_t)(comma - word) : strlen(word)) && strncmp(word, text, length) == 0)
            return (int)o->min + place;
        word = comma ? comma + 2 : NULL;
    }
    usage_error("--%s: '%s' is none of %s", o->name, text, o->words);
}

static void add_repeated(const cli_option *o, const char **texts, size_t *count, const char *text)
{
    if (*count == (size_t)o->max)
        usage_error("more than %zu --%s", *count, o->name);
    texts[(*count)++] = text;
}

static long long whole_number(const cli_option *o, const char *text)
{
    return option_integer(text, (long long)o->min, (long long)o->max, o->name);
}

static void option_store(const cli_command *command, const char *name, const given_option *g)
{
    const cli_option *o = g->known->row;
    void *field = g->known->in ? g->known->in + o->field : NULL; /* a command with subcommands has no fields */
    switch (o->kind) {
    case OPTION_KIND_NONE: case OPTION_KIND_TABLE: break;
    case OPTION_KIND_HELP: option_help_print(command, name); exit(0);
    case OPTION_KIND_USAGE: option_usage_print(command, name); exit(0);
    case OPTION_KIND_FLAG: *(bool *)field = true; break;
    case OPTION_KIND_TEXT: /* an optional value that is not given again stays */
        *(const char **)field = g->text ? g->text : *(const char **)field;
        break;
    case OPTION_KIND_TEXTS: add_repeated(o, field, (size_t *)(g->known->in + o->other), g->text); break;
    case OPTION_KIND_COUNT: *(size_t *)field = (size_t)whole_number(o, g->text); break;
    case OPTION_KIND_INT: *(int *)field = (int)whole_number(o, g->text); break;
    case OPTION_KIND_LONG: *(long long *)field = whole_number(o, g->text); break;
    case OPTION_KIND_NUMBER: *(double *)field = option_number(g->text, o->min, o->max, o->name); break;
    case OPTION_KIND_WORD: *(int *)field = option_word(o, g->text); break;
    case OPTION_KIND_EITHER: *(bool *)field = option_word(o, g->text) == 1; break;
    case OPTION_KIND_TAKE: o->take(o, g->known->in, g->text); break;
    }
}

/* ---- a command --------------------------------------------------------------------------------------------------- */

bool options_given(const char *name)
{
    for (size_t i = 0; i < line.given_count; i++)
        if (strcmp(line.given[i].known->row->name, name) == 0)
            return true;
    return false;
}

const char *options_given_of(const cli_option *table)
{
    const char *last = NULL;
    for (size_t i = 0; i < line.given_count; i++)
        for (const cli_option *o = table; o->kind || o->meaning; o++)
            if (line.given[i].known->row == o)
                last = o->name;
    return last;
}

char **options_operands(size_t *count)
{
    *count = line.operand_count;
    return line.operands;
}

static void check_given(void)
{
    for (size_t i = 0; i < line.given_count; i++) {
        const cli_option *o = line.given[i].known->row;
        if (o->not_with && options_given(o->not_with))
            usage_error("--%s or --%s, not both", o->name, o->not_with);
        if (o->needs && !options_given(o->needs))
            usage_error("--%s needs --%s", o->name, o->needs);
    }
}

static void take_operands(const cli_command *c, char *arguments)
{
    if (line.operand_count < c->least)
        usage_error("missing operand: %s", c->missing);
    if (c->most > 0 && line.operand_count > c->most)
        usage_error("extra operand: takes %s", c->takes);
    for (size_t i = 0; i < c->most && i < line.operand_count; i++)
        *(const char **)(arguments + c->operand[i]) = line.operands[i];
}

void options_parse(const cli_command *command, int argc, char **argv, void *arguments)
{
    usage_of(argv[0]);
    free(line.given);
    line.known_count = line.given_count = line.operand_count = 0;
    size_t letters = 0; /* an argument of short options gives one for each letter */
    for (int i = 1; i < argc; i++)
        letters += strlen(argv[i]);
    line.given = calloc(letters + 1, sizeof *line.given);
    if (!line.given)
        usage_error("out of memory");
    add_known(command->options, arguments);
    add_known(option_help_rows, arguments);
    read_line(argc, argv);
    for (size_t i = 0; i < line.given_count; i++)
        option_store(command, argv[0], &line.given[i]);
    take_operands(command, arguments);
    check_given();
    if (command->finish)
        command->finish(arguments);
}
