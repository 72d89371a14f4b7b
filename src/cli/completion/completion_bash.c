/* cli/completion/completion_bash.c: the script for bash. It needs nothing but bash, of version 3.2 or later. */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

static const char *const KINDS[] = {"none", "words", "files", "folders", "recipes", "keys"};

/* "--out | -o" */
static void bash_put_names(const cli_option *o, const char *between)
{
    printf("--%s", o->name);
    if (o->alias)
        printf("%s--%s", between, o->alias);
    if (o->letter)
        printf("%s-%c", between, o->letter);
}

static void bash_put_value(const cli_option *o, void *context)
{
    (void)context;
    if (!o->argument)
        return;
    const completion_kind kind = completion_of_option(o);
    fputs("        ", stdout);
    bash_put_names(o, " | ");
    printf(") kind=%s", KINDS[kind]);
    if (kind == COMPLETION_WORDS) {
        fputs(" words='", stdout);
        completion_put_words(o->words);
        putchar('\'');
    }
    fputs(" ;;\n", stdout);
}

static void bash_put_option(const cli_option *o, void *context)
{
    (void)context;
    putchar(' ');
    bash_put_names(o, " ");
}

/* `part` NULL: the command has no subcommands. */
static void bash_put_command(const char *name, const char *part, const cli_command *c)
{
    printf(part ? "    '%s %s')\n" : "    %s)\n", name, part);
    printf("        kind=%s options='", KINDS[completion_of_operand(c, 0)]);
    completion_options(c, bash_put_option, NULL);
    fputs("'\n", stdout);
    if (c->words) {
        fputs("        words='", stdout);
        completion_put_words(c->words);
        fputs("'\n", stdout);
    }
    fputs("        case $before in\n", stdout);
    completion_options(c, bash_put_value, NULL);
    fputs("        esac ;;\n", stdout);
}

static void bash_put_entry(const cli_entry *e)
{
    if (e->command) {
        bash_put_command(e->name, NULL, e->command);
        return;
    }
    printf("    %s)\n        words='", e->name);
    for (size_t i = 0; i < e->parts->count; i++)
        printf("%s%s", i > 0 ? " " : "", e->parts->list[i].name);
    fputs("' options='", stdout);
    completion_options(NULL, bash_put_option, NULL);
    fputs("' ;;\n", stdout);
    for (size_t i = 0; i < e->parts->count; i++)
        bash_put_command(e->name, e->parts->list[i].name, e->parts->list[i].command);
}

static void put_commands(void)
{
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        printf("%s ", cli_commands[i].name);
}

/* The patterns of a case: commands that have subcommands. */
static void put_commands_with_parts(void)
{
    const char *between = "";
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        if (cli_commands[i].parts) {
            printf("%s%s", between, cli_commands[i].name);
            between = " | ";
        }
}

void completion_bash(void)
{
    fputs("# Completions of rapt for bash, which `rapt --completion bash` has printed: source it, or put it as `rapt` into\n"
          "# ~/.local/share/bash-completion/completions.\n"
          "_rapt() {\n"
          "    local IFS=$'\\n' cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' kind=words\n"
          "    local words='' options='' list=''\n"
          "    # bash makes a word of the = in --beam=4\n"
          "    if [ \"$cur\" = = ]; then cur=; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
          "    if [ \"$COMP_CWORD\" -gt 1 ]; then command=${COMP_WORDS[1]}; fi\n"
          "    case $command in\n    ", stdout);
    put_commands_with_parts();
    fputs(") if [ \"$COMP_CWORD\" -gt 2 ]; then command=\"$command ${COMP_WORDS[2]}\"; fi ;;\n"
          "    esac\n"
          "    case $command in\n"
          "    '') words='", stdout);
    put_commands();
    fputs("help' options='--help --version --completion -h -V' ;;\n    help) words='", stdout);
    put_commands();
    fputs("' ;;\n    --completion) words='bash zsh fish' ;;\n", stdout);
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        bash_put_entry(&cli_commands[i]);
    fputs("    esac\n"
          "    COMPREPLY=()\n"
          "    case $cur in -*) kind=words words=$options ;; esac\n"
          "    case $kind in\n"
          "    words) list=$(IFS=' '; compgen -W \"$words\" -- \"$cur\") ;;\n"
          "    keys)\n"
          "        compopt -o nospace 2>/dev/null\n"
          "        list=$(IFS=' '; compgen -S = -W '", stdout);
    completion_put_keys();
    fputs("' -- \"$cur\") ;;\n"
          "    files) list=$(compgen -f -- \"$cur\") ;;\n"
          "    folders) list=$(compgen -d -- \"$cur\") ;;\n"
          "    recipes) list=$(compgen -d -- \"$cur\"; compgen -f -X '!*.yaml' -- \"$cur\") ;;\n"
          "    esac\n"
          "    case $kind in files | folders | recipes) compopt -o filenames 2>/dev/null ;; esac\n"
          "    # one by one: COMPREPLY=($list) would take the name of a file, such as [ab].txt, for a pattern\n"
          "    [ -z \"$list\" ] || while IFS= read -r cur; do COMPREPLY+=(\"$cur\"); done <<<\"$list\"\n"
          "}\n"
          "complete -F _rapt rapt\n", stdout);
}
