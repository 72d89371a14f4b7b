/* cli/completion/completion_walk.c: options of a command in turn, what may stand behind each, and their meanings in short. */
#include "cli/completion/completion.h"

#include "recipe/recipe_keys.h"

#include <stdio.h>
#include <string.h>

enum { MEANING = 70 };

void completion_options(const cli_command *c, completion_visit *visit, void *context)
{
    const cli_option *inner[8], *o = c ? c->options : option_help_rows;
    size_t depth = 0;
    for (bool helped = !c;;) {
        if (o && o->kind == OPTION_KIND_TABLE && depth < sizeof inner / sizeof *inner) {
            inner[depth++] = o + 1;
            o = o->table;
        } else if (o && (o->kind || o->meaning)) {
            if (o->kind != OPTION_KIND_NONE)
                visit(o, context);
            o++;
        } else if (depth > 0) {
            o = inner[--depth];
        } else if (!helped) {
            o = option_help_rows;
            helped = true;
        } else {
            return;
        }
    }
}

static bool is_name_of(const char *name, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && strncmp(list[i], name, length) == 0)
            return true;
    return false;
}

/* By the name that a value or an operand has in --help: "[MODEL]", "FILE...". */
static completion_kind kind_of_name(const char *name, size_t length)
{
    static const char *const files[] = {"MODEL", "FILE", "PATH", "TOKENIZER", "HYPOTHESIS", "REFERENCE", "PAIRS", "NAME=]MODEL",
                                        "FOLDER|FILE", "TEXT..."};
    static const char *const folders[] = {"DIR", "ADAPTER"};
    if (is_name_of(name, length, files, sizeof files / sizeof *files))
        return COMPLETION_FILES;
    if (length > 3 && strncmp(name + length - 3, "...", 3) == 0)
        length -= 3;
    if (*name == '[')
        name++, length--;
    length -= length > 0 && name[length - 1] == ']';
    if (is_name_of(name, length, files, sizeof files / sizeof *files))
        return COMPLETION_FILES;
    if (is_name_of(name, length, folders, sizeof folders / sizeof *folders))
        return COMPLETION_FOLDERS;
    if (length == strlen("RECIPE.yaml") && strncmp(name, "RECIPE.yaml", length) == 0)
        return COMPLETION_RECIPES;
    return length == strlen("KEY=VALUE") && strncmp(name, "KEY=VALUE", length) == 0 ? COMPLETION_KEYS : COMPLETION_NONE;
}

completion_kind completion_of_option(const cli_option *o)
{
    if (o->words)
        return COMPLETION_WORDS;
    return o->argument ? kind_of_name(o->argument, strlen(o->argument)) : COMPLETION_NONE;
}

completion_kind completion_of_operand(const cli_command *c, size_t place)
{
    const char *word = c->operands;
    if (c->words)
        return COMPLETION_WORDS;
    for (;;) {
        const size_t length = strcspn(word, " \n");
        const char *next = word + length + 1;
        if (place == 0 || word[length] != ' ' || *next == '-')
            return kind_of_name(word, length);
        word = next;
        place--;
    }
}

void completion_put_words(const char *list)
{
    for (; *list; list++)
        if (*list == '|')
            putchar(' ');
        else if (*list != ',')
            putchar(*list);
}

void completion_put_keys(void)
{
    for (size_t i = 0; i < recipe_key_count(); i++)
        printf("%s%s", i > 0 ? " " : "", recipe_key_at(i)->name);
}

/* The end of the first clause: before "; ", " (" or ". ", or before the last space within MEANING bytes. */
static size_t meaning_length(const char *text, bool *cut)
{
    size_t end = 0, length = strlen(text);
    while (end < length && !(strchr(" ", text[end + 1]) && strchr(";.", text[end])) && strncmp(text + end, " (", 2) != 0)
        end++;
    *cut = end > MEANING;
    if (*cut)
        for (end = MEANING; text[end] != ' '; end--)
            ;
    return end;
}

void completion_put_meaning(const char *meaning, const char *escaped, const char *escape)
{
    bool cut;
    const size_t length = meaning_length(meaning, &cut);
    for (size_t i = 0; i < length; i++)
        printf("%s%c", strchr(escaped, meaning[i]) ? escape : "", meaning[i]);
    if (cut)
        fputs(" ...", stdout);
}

bool completion_repeats(const cli_option *o)
{
    return o->kind == OPTION_KIND_TEXTS || strstr(o->meaning, "can be repeated");
}
