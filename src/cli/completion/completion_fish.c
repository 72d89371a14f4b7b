/* cli/completion/completion_fish.c: the script for fish: a line for each option. */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

/* Where an option belongs. */
typedef struct fish_place {
    const char *name, *part;
} fish_place;

static void put_line(const char *name, const char *part)
{
    printf("complete -c rapt -n '__rapt_at %s%s%s'", name, part ? " " : "", part ? part : "");
}

static void fish_put_meaning(const char *meaning)
{
    fputs(" -d '", stdout);
    completion_put_meaning(meaning, "'\\", "\\");
    fputs("'\n", stdout);
}

static void put_value(const cli_option *o)
{
    switch (completion_of_option(o)) {
    case COMPLETION_NONE: fputs(" -x", stdout); break;
    case COMPLETION_WORDS:
        fputs(" -x -a '", stdout);
        completion_put_words(o->words);
        putchar('\'');
        break;
    case COMPLETION_FILES: case COMPLETION_RECIPES: fputs(" -r -F", stdout); break;
    case COMPLETION_FOLDERS: fputs(" -x -a '(__fish_complete_directories)'", stdout); break;
    case COMPLETION_KEYS: fputs(" -x -a '(__rapt_keys)='", stdout); break;
    }
}

static void fish_put_option(const cli_option *o, void *context)
{
    const fish_place *place = context;
    put_line(place->name, place->part);
    printf(" -l %s", o->name);
    if (o->alias)
        printf(" -l %s", o->alias);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (o->argument && o->argument[0] != '[')
        put_value(o);
    fish_put_meaning(o->meaning);
}

static void fish_put_command(const char *name, const char *part, const cli_command *c)
{
    fish_place place = {name, part};
    completion_options(c, fish_put_option, &place);
    if (!c->words)
        return;
    put_line(name, part);
    fputs(" -f -a '", stdout);
    completion_put_words(c->words);
    fputs("'\n", stdout);
}

static void fish_put_parts(const cli_entry *e)
{
    for (size_t i = 0; i < e->parts->count; i++) {
        const cli_subcommand *s = &e->parts->list[i];
        printf("complete -c rapt -n '__rapt_first %s' -f -a %s", e->name, s->name);
        fish_put_meaning(s->command->about);
        fish_put_command(e->name, s->name, s->command);
    }
}

void completion_fish(void)
{
    fputs("# Completions of rapt for fish, which `rapt --completion fish` has printed: put it as rapt.fish into\n"
          "# ~/.config/fish/completions.\n"
          "function __rapt_first # the words so far are rapt and these\n"
          "    set -l words (commandline -opc)\n"
          "    set -e words[1]\n"
          "    test \"$words\" = \"$argv\"\n"
          "end\n"
          "function __rapt_at # they begin so\n"
          "    set -l words (commandline -opc)\n"
          "    set -e words[1]\n"
          "    string match -q -- \"$argv *\" \"$words \"\n"
          "end\n"
          "function __rapt_keys\n    string split ' ' -- '", stdout);
    completion_put_keys();
    fputs("'\nend\n"
          "complete -c rapt -n __rapt_first -f\n"
          "complete -c rapt -n __rapt_first -s h -l help -d 'List the commands'\n"
          "complete -c rapt -n __rapt_first -s V -l version -d 'Print the version'\n"
          "complete -c rapt -n __rapt_first -l completion -d 'Print completions'\n"
          "complete -c rapt -n '__rapt_first --completion' -f -a 'bash zsh fish'\n"
          "complete -c rapt -n __rapt_first -a help -d 'List the options of a command'\n"
          "complete -c rapt -n '__rapt_at help' -f\n", stdout);
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        const cli_entry *e = &cli_commands[i];
        printf("complete -c rapt -n '__rapt_first; or __rapt_first help' -a %s", e->name);
        fish_put_meaning(e->meaning);
        if (e->command)
            fish_put_command(e->name, NULL, e->command);
        else
            fish_put_parts(e);
    }
}
