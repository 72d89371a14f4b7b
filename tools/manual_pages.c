/* tools/manual_pages.c: the program `rapt_manual`, of the build alone: it prints a page of the manual, in mdoc. Names of options,
 * values, ranges and what excludes what come from the tables of the commands; docs/man/NAME.mdoc has the words, and
 * directives say which are about an option:
 *
 *     .Options [SUBCOMMAND]   the options of the command, in the order of its table, up to .End; --help and --usage are added
 *     .Option NAME...         what follows is said about these; an option without an entry has the entry of options.mdoc, or else
 *                             what --help says
 *     .Shared                 options of several subcommands, said once, up to .End; .Options leaves them out
 *     .Commands               the list of commands, up to .End; .Command NAME: what follows is said about this one
 *     .Keys                   the keys of a recipe
 *
 * An entry for what is not there is an error, so that no page names an option that was removed.
 *
 *     rapt_manual FOLDER NAME    NAME: "rapt", or a command; FOLDER has the sources */
#include "rapt/base.h"
#include "rapt/recipe.h"

#include "base/file.h"
#include "cli/commands.h"
#include "cli/completion/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 1024, ENTRIES = 64, SOURCE_BYTES = 1 << 20 };

/* A source, with a NULL behind its last line. */
typedef struct source {
    char *lines[LINES];
} source;

/* ".Option NAMES", and the lines [first, end) behind it. */
typedef struct entry {
    const char *names;
    char **first, **end;
    bool used;
} entry;

typedef struct entry_list {
    entry all[ENTRIES];
    size_t count;
} entry_list;

/* Where a page is. */
typedef struct page {
    const cli_entry *command; /* NULL: the program itself */
    const cli_command *part;  /* whose options are printed; NULL: those that are shared */
    entry_list own, shared, common; /* entries of the list at hand, of .Shared, and of options.mdoc */
    const char *heading;          /* what the table has above the next option, or NULL */
    const char *printed[ENTRIES]; /* names of the options that the list has already */
    size_t printed_count;
} page;

__attribute__((noreturn)) static void refuse(const char *what, const char *why)
{
    fprintf(stderr, "rapt_manual: %s: %s\n", what, why);
    exit(1);
}

/* ---- sources ------------------------------------------------------------------------------------------------------- */

static void read_source(source *s, const char *folder, const char *name)
{
    char path[4096], *text;
    size_t size, count = 0;
    rapt_error err = {0};
    snprintf(path, sizeof path, "%s/%s.mdoc", folder, name);
    if (file_read(path, SOURCE_BYTES, &text, &size, &err))
        refuse(name, err.message);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) { /* mdoc has no empty lines */
        if (count + 1 == LINES)
            refuse(path, "too many lines");
        s->lines[count++] = line;
    }
}

/* What stands behind a directive, "" for nothing; NULL: the line is another one. */
static const char *behind(const char *line, const char *directive)
{
    const size_t length = strlen(directive);
    if (strncmp(line, directive, length) != 0 || (line[length] != ' ' && line[length]))
        return NULL;
    return line + length + (line[length] == ' ');
}

/* Reads entries from `line` on, and returns the line behind .End. */
static char **read_entries(char **line, const char *directive, entry_list *list)
{
    for (list->count = 0; *line && !behind(*line, ".End"); line++) {
        const char *names = behind(*line, directive);
        if (names ? list->count == ENTRIES : list->count == 0)
            refuse(*line, "too many entries, or a line in front of them");
        if (names)
            list->all[list->count++] = (entry){.names = names, .first = line + 1};
        list->all[list->count - 1].end = line + 1;
    }
    if (!*line)
        refuse(directive, "there is no .End");
    return line + 1;
}

/* Whether a list of words has a word. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static entry *entry_of(entry_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (has_word(list->all[i].names, name))
            return &list->all[i];
    return NULL;
}

static void refuse_unused(const entry_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->all[i].used)
            refuse(list->all[i].names, "an entry for what is not there");
}

/* ---- mdoc ---------------------------------------------------------------------------------------------------------- */

/* A text of --help as lines of mdoc, one for each sentence, with a period at the end. */
static void put_text(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (c == text && (*c == '.' || *c == '\''))
            fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-' && (c[1] == '-' || c == text || c[-1] == '-' || c[-1] == ' '))
            fputs("\\-", stdout);
        else
            putchar(*c == ' ' && c > text && c[-1] == '.' ? '\n' : *c);
    }
    puts(strlen(text) > 0 && text[strlen(text) - 1] == '.' ? "" : ".");
}

/* An operand or a value as --help writes it, "[NAME=]MODEL...", "KEY=VALUE", "--out=DIR", as macros behind a macro of mdoc. */
static void put_form(const char *word)
{
    bool joined = false; /* with what stands before, without a space */
    if (word[0] == '-') {
        const size_t name = strcspn(word + 1, "=");
        printf(" Fl %.*s", (int)name, word + 1);
        word += 1 + name;
        word += *word == '=';
    }
    while (*word) {
        if (*word == '[' || *word == ']') {
            fputs(*word++ == '[' ? " Oo" : " Oc", stdout);
        } else if (strncmp(word, "...", 3) == 0) {
            fputs(" ...", stdout);
            word += 3;
        } else if (*word == '=') {
            fputs(joined ? " Ns =" : " =", stdout);
            word++;
        } else if (*word == ':') { /* mdoc has none before it anyway */
            fputs(" :", stdout);
            word++;
        } else if (*word == '|') {
            putchar(' ');
            putchar(*word++);
            joined = false;
        } else {
            fputs(joined ? " Ns Ar " : " Ar ", stdout);
            do
                putchar(tolower((unsigned char)*word++));
            while (*word && !strchr("[]=:|", *word) && (strncmp(word, "...", 3) != 0 || word[-1] == ','));
            joined = true;
        }
    }
}

static void put_synopsis(const char *name, const char *part, const char *forms)
{
    for (const char *form = forms; form;) {
        const char *end = strchr(form, '\n');
        char copy[256];
        snprintf(copy, sizeof copy, "%.*s", end ? (int)(end - form) : (int)strlen(form), form);
        printf(".Nm rapt\n.Cm %s%s%s\n.Op Ar option ...\n", name, part ? " " : "", part ? part : "");
        for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
            putchar('.');
            put_form(word);
            putchar('\n');
        }
        form = end ? end + 1 : NULL;
    }
}

/* ---- options ------------------------------------------------------------------------------------------------------- */

/* "Fl o , Fl -out Ar dir" */
static void put_names(const cli_option *o)
{
    const char *value = o->argument ? o->argument : "";
    if (o->letter)
        printf(" Fl %c ,", o->letter);
    printf(" Fl -%s", o->name);
    if (o->alias)
        printf(" , Fl -%s", o->alias);
    if (*value == '[')
        printf(" Ns Oo = Ns");
    put_form(value + (*value == '['));
}

typedef struct asked_option {
    const char *name;
    bool found;
} asked_option;

static void ask_option(const cli_option *o, void *context)
{
    asked_option *asked = context;
    asked->found = asked->found || strcmp(o->name, asked->name) == 0;
}

/* What the table knows besides: the range of a number, and which options exclude each other, unless the entry is of both. */
static void put_facts(const page *p, const cli_option *o, const entry *e)
{
    const bool number = o->kind >= OPTION_KIND_COUNT && o->kind <= OPTION_KIND_NUMBER;
    if (number && o->min > -1e9 && o->max <= 65536 && !(e && strchr(e->names, ' ')))
        printf("From %.10g to %.10g.\n", o->min, o->max);
    if (o->needs)
        printf("Only with\n.Fl -%s .\n", o->needs);
    asked_option other = {o->not_with, false}; /* rows that several commands have may name an option of some alone */
    if (o->not_with && p->part)
        completion_options(p->part, ask_option, &other);
    if (other.found && !(e && has_word(e->names, o->not_with)))
        printf("Not together with\n.Fl -%s .\n", o->not_with);
}

static bool is_printed(const page *p, const char *name)
{
    for (size_t i = 0; i < p->printed_count; i++)
        if (strcmp(p->printed[i], name) == 0)
            return true;
    return false;
}

typedef struct joined_names {
    const entry *e;
    const char *first;
    page *p;
} joined_names;

/* The other options of an entry. */
static void put_joined(const cli_option *o, void *context)
{
    joined_names *j = context;
    if (strcmp(o->name, j->first) == 0 || !has_word(j->e->names, o->name) || is_printed(j->p, o->name))
        return;
    fputs(" ,", stdout);
    put_names(o);
    j->p->printed[j->p->printed_count++] = o->name;
}

static void put_joined_shared(page *p, joined_names *j)
{
    for (size_t i = 0; i < p->command->parts->count; i++)
        completion_options(p->command->parts->list[i].command, put_joined, j);
}

/* An option with its entry, unless it has been printed, or belongs to the other list. */
static void put_option(page *p, const cli_option *o)
{
    entry *shared = entry_of(&p->shared, o->name), *e = p->part ? entry_of(&p->own, o->name) : shared;
    if (is_printed(p, o->name) || (p->part ? shared != NULL : !shared))
        return;
    if (p->printed_count == ENTRIES)
        refuse(o->name, "too many options");
    if (p->part && !e)
        e = entry_of(&p->common, o->name);
    if (p->heading && p->part)
        printf(".El\n.Pp\n.Sy %.*s\n.Bl -tag -width Ds\n", (int)strcspn(p->heading, ":"), p->heading);
    p->heading = NULL;
    fputs(".It", stdout);
    put_names(o);
    p->printed[p->printed_count++] = o->name;
    if (e) {
        joined_names j = {e, o->name, p};
        e->used = true;
        if (p->part)
            completion_options(p->part, put_joined, &j);
        else
            put_joined_shared(p, &j);
    }
    putchar('\n');
    for (char **line = e ? e->first : NULL; e && line < e->end; line++)
        puts(*line);
    if (!e || e->first == e->end)
        put_text(o->meaning);
    put_facts(p, o, e);
}

static void put_rows(page *p, const cli_option *table)
{
    for (const cli_option *o = table; o->kind || o->meaning; o++)
        if (o->kind == OPTION_KIND_TABLE)
            put_rows(p, o->table);
        else if (o->kind == OPTION_KIND_NONE)
            p->heading = o->meaning;
        else
            put_option(p, o);
}

static void put_command(page *p, const cli_command *c)
{
    bool headed = false;
    for (const cli_option *o = c->options; o->kind || o->meaning; o++)
        headed = headed || o->kind == OPTION_KIND_NONE;
    put_rows(p, c->options);
    p->heading = headed ? "Help" : NULL;
    put_rows(p, option_help_rows);
}

static void put_list(page *p)
{
    puts(".Bl -tag -width Ds");
    p->printed_count = 0;
    if (p->part)
        put_command(p, p->part);
    else
        for (size_t i = 0; i < p->command->parts->count; i++)
            put_command(p, p->command->parts->list[i].command);
    puts(".El");
    refuse_unused(p->part ? &p->own : &p->shared);
}

static const cli_command *part_of(const page *p, const char *name)
{
    for (size_t i = 0; p->command->parts && i < p->command->parts->count; i++)
        if (strcmp(p->command->parts->list[i].name, name) == 0)
            return p->command->parts->list[i].command;
    if (!p->command->command || *name)
        refuse(name, "there is no such subcommand");
    return p->command->command;
}

/* ---- other lists --------------------------------------------------------------------------------------------------- */

static void put_commands(entry_list *list)
{
    puts(".Bl -tag -width Ds");
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        entry *e = entry_of(list, cli_commands[i].name);
        printf(".It Xr rapt-%s 1\n", cli_commands[i].name);
        if (!e)
            refuse(cli_commands[i].name, "the page of the program does not list it");
        e->used = true;
        for (char **line = e->first; line < e->end; line++)
            puts(*line);
    }
    puts(".El");
    refuse_unused(list);
}

static void put_keys(void)
{
    puts(".Bl -tag -width Ds");
    for (size_t i = 0; i < rapt_recipe_key_count(); i++) {
        rapt_recipe_key key;
        rapt_recipe_key_at(i, &key);
        printf(".It Cm %s Pq %s\n", key.name, key.type);
        put_text(key.meaning);
        if (strcmp(key.range, "-") != 0)
            printf("Values:\n.Li %s .\n", key.range);
        printf("Default:\n.Li %s .\n", strcmp(key.standard, "\"\"") == 0 ? "none" : key.standard);
    }
    puts(".El");
}

/* ---- a page -------------------------------------------------------------------------------------------------------- */

static void put_head(const page *p, const char *date, const char *name)
{
    char upper[64] = "";
    for (size_t i = 0; name[i] && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)name[i]);
    printf("%s\n.Dt %s%s 1\n.Os rapt %s\n.Sh NAME\n", date, p->command ? "RAPT-" : "", upper, rapt_version());
    if (!p->command) {
        puts(".Nm rapt\n.Nd train and run Transformers on CPUs");
        return;
    }
    printf(".Nm rapt-%s\n.Nd %s\n.Sh SYNOPSIS\n", name, p->command->meaning);
    if (p->command->command)
        put_synopsis(name, NULL, p->command->command->operands);
    for (size_t i = 0; p->command->parts && i < p->command->parts->count; i++)
        put_synopsis(name, p->command->parts->list[i].name, p->command->parts->list[i].command->operands);
}

static void put_body(page *p, char **line)
{
    bool ends = false; /* it says what to see also */
    while (*line) {
        const char *part = behind(*line, ".Options");
        ends = ends || strcmp(*line, ".Sh SEE ALSO") == 0;
        if (part) {
            p->part = part_of(p, part);
            line = read_entries(line + 1, ".Option", &p->own);
            put_list(p);
        } else if (behind(*line, ".Shared")) {
            p->part = NULL;
            line = read_entries(line + 1, ".Option", &p->shared);
            put_list(p);
        } else if (behind(*line, ".Commands")) {
            line = read_entries(line + 1, ".Command", &p->own);
            put_commands(&p->own);
        } else if (behind(*line, ".Keys")) {
            put_keys();
            line++;
        } else {
            puts(*line++);
        }
    }
    if (!ends)
        puts(".Sh SEE ALSO\n.Xr rapt 1");
}

int main(int argc, char **argv)
{
    static page p;
    static source common, own;
    if (argc != 3)
        refuse("usage", "rapt_manual FOLDER NAME");
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        if (strcmp(cli_commands[i].name, argv[2]) == 0)
            p.command = &cli_commands[i];
    if (!p.command && strcmp(argv[2], "rapt") != 0)
        refuse(argv[2], "there is no such command");
    read_source(&common, argv[1], "options");
    read_source(&own, argv[1], argv[2]);
    read_entries(common.lines + 2, ".Option", &p.common); /* behind a comment and the date */
    put_head(&p, common.lines[1], argv[2]);
    put_body(&p, own.lines);
    return fflush(stdout) || ferror(stdout);
}
