/* cli/options/option_help.c: --help and --usage from the table of a command's options. */
#include "cli/options/options.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 79, LONG_NAMES = 6, MEANINGS = 29, USAGE_INDENT = 12 };

const cli_option option_help_rows[] = {
    {.kind = OPTION_KIND_HELP, .name = "help", .letter = 'h', .meaning = "Print this list"},
    {.kind = OPTION_KIND_USAGE, .name = "usage", .meaning = "Print a short usage message"},
    {0}};

/* Prints `text` from column `indent` on; each of its own line ends is kept. */
static void print_wrapped(const char *text, int indent)
{
    for (const char *next; *text; text = next) {
        size_t length = strcspn(text, "\n"), room = (size_t)(WIDTH - indent);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " \n");
        }
        next = text + length;
        printf("%.*s\n", (int)length, text);
        next += *next == ' ' || *next == '\n';
        if (*next && *next != '\n')
            printf("%*s", indent, "");
    }
}

/* "  -o, --out=FILE" */
static void print_option(const cli_option *o)
{
    char names[128];
    const char *value = o->argument ? o->argument : "";
    const bool optional = *value == '[';
    int used = snprintf(names, sizeof names, o->letter ? "  -%c, " : "      ", o->letter);
    used += snprintf(names + used, sizeof names - (size_t)used, optional ? "--%s[=%s" : *value ? "--%s=%s" : "--%s%s", o->name,
                     value + optional);
    if (o->alias)
        used += snprintf(names + used, sizeof names - (size_t)used, ", --%s", o->alias);
    if (used + 2 > MEANINGS)
        printf("%s\n%*s", names, MEANINGS, "");
    else
        printf("%-*s", MEANINGS, names);
    print_wrapped(o->meaning, MEANINGS);
}

/* Returns whether there was a heading. */
static bool print_options(const cli_option *table)
{
    bool headed = false;
    for (const cli_option *o = table; o && (o->kind || o->meaning); o++) {
        if (o->kind == OPTION_KIND_TABLE)
            headed = print_options(o->table) || headed;
        else if (o->kind == OPTION_KIND_NONE)
            headed = printf("\n %s\n", o->meaning) > 0;
        else
            print_option(o);
    }
    return headed;
}

/* "Usage: rapt plot table [OPTION...] FILE", a line for each form of the operands. */
static void print_forms(const char *forms, const char *name, const char *options)
{
    const char *word = "Usage:";
    for (const char *form = forms; form; word = "  or: ") {
        const char *end = strchr(form, '\n');
        printf("%s %s%s %.*s\n", word, name, options, end ? (int)(end - form) : (int)strlen(form), form);
        form = end ? end + 1 : NULL;
    }
}

void option_help_print(const cli_command *c, const char *name)
{
    print_forms(c->operands, name, c->options ? " [OPTION...]" : "");
    print_wrapped(c->about, 0);
    putchar('\n');
    if (print_options(c->options))
        putchar('\n');
    print_options(option_help_rows);
    if (c->notes) {
        putchar('\n');
        print_wrapped(c->notes, 0);
    }
}

static int usage_words(const cli_option *table, int column)
{
    for (const cli_option *o = table; o && (o->kind || o->meaning); o++) {
        char word[128];
        if (o->kind == OPTION_KIND_TABLE)
            column = usage_words(o->table, column);
        if (o->kind <= OPTION_KIND_TABLE)
            continue;
        const char *value = o->argument ? o->argument : "";
        const int length = snprintf(word, sizeof word, *value == '[' ? " [--%s[=%s]" : *value ? " [--%s=%s]" : " [--%s%s]",
                                    o->name, value + (*value == '['));
        if (column + length > WIDTH) {
            printf("\n%*s", USAGE_INDENT - 1, "");
            column = USAGE_INDENT - 1;
        }
        fputs(word, stdout);
        column += length;
    }
    return column;
}

void option_usage_print(const cli_command *c, const char *name)
{
    printf("Usage: %s", name);
    usage_words(option_help_rows, usage_words(c->options, (int)strlen("Usage: ") + (int)strlen(name)));
    putchar('\n');
    for (const char *form = c->operands; form; form = strchr(form, '\n') ? strchr(form, '\n') + 1 : NULL)
        printf("%*s%.*s\n", USAGE_INDENT, "", (int)strcspn(form, "\n"), form);
}
