/* cli/completion/completion_zsh.c: the script for zsh, a function of its completion system. */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

static const char *const ACTIONS[] = {" ", "", "_files", "_files -/", "_files -g \"*.yaml\"", "_rapt_keys"};

/* ":FILE:_files" */
static void put_action(completion_kind kind, const char *words)
{
    putchar(':');
    if (kind == COMPLETION_WORDS) {
        putchar('(');
        completion_put_words(words);
        putchar(')');
    } else {
        fputs(ACTIONS[kind], stdout);
    }
}

/* One specification for each name of an option: '(-o --out)'{-o+,--out=}'[Model folder to write]:DIR:_files -/'. */
static void zsh_put_option(const cli_option *o, void *context)
{
    const bool optional = o->argument && o->argument[0] == '[';
    const char *value = optional ? "=-" : o->argument ? "=" : "";
    (void)context;
    fputs(" \\\n        ", stdout);
    if (completion_repeats(o))
        fputs("'*'", stdout);
    else if (o->letter)
        printf("'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        printf("{-%c%s,--%s%s}", o->letter, o->argument ? "+" : "", o->name, value);
    else if (o->alias)
        printf("{--%s%s,--%s%s}", o->name, value, o->alias, value);
    else
        printf("--%s%s", o->name, value);
    fputs("'[", stdout);
    completion_put_meaning(o->meaning, "'", "'\\'");
    putchar(']');
    if (o->argument) {
        fputs(optional ? "::" : ":", stdout);
        for (const char *c = o->argument; *c; c++)
            if (!strchr("[]:", *c))
                putchar(*c);
        put_action(completion_of_option(o), o->words);
    }
    putchar('\'');
}

static void zsh_put_command(const char *name, const char *part, const cli_command *c)
{
    size_t last = 2; /* of the operands that differ from those behind them */
    printf("_rapt_%s%s%s() {\n    _arguments -s -S", name, part ? "_" : "", part ? part : "");
    completion_options(c, zsh_put_option, NULL);
    while (last > 0 && completion_of_operand(c, last) == completion_of_operand(c, last - 1))
        last--;
    for (size_t i = 0; i <= last; i++) {
        printf(i < last ? " \\\n        '%zu:operand" : " \\\n        '*:operand", i + 1);
        put_action(completion_of_operand(c, i), c->words);
        putchar('\'');
    }
    fputs("\n}\n", stdout);
}

/* 'train:train or fine-tune a model': a name, and what it means. */
static void put_described(const char *name, const char *meaning)
{
    printf(" \\\n        '%s:", name);
    completion_put_meaning(meaning, "'", "'\\'");
    putchar('\'');
}

static void zsh_put_parts(const cli_entry *e)
{
    for (size_t i = 0; i < e->parts->count; i++)
        zsh_put_command(e->name, e->parts->list[i].name, e->parts->list[i].command);
    printf("_rapt_%s() {\n    _rapt_choose %s", e->name, e->name);
    for (size_t i = 0; i < e->parts->count; i++)
        put_described(e->parts->list[i].name, e->parts->list[i].command->about);
    fputs("\n}\n", stdout);
}

void completion_zsh(void)
{
    fputs("#compdef rapt\n"
          "# Completions of rapt for zsh, which `rapt --completion zsh` has printed: put it as `_rapt` into a folder of $fpath.\n"
          "_rapt_keys() {\n    local -a keys\n    keys=(", stdout);
    completion_put_keys();
    fputs(")\n    compadd -S = -a keys\n}\n"
          "# _rapt_choose PREFIX NAME:MEANING...: one of these names, and then what its function completes.\n"
          "_rapt_choose() {\n"
          "    local prefix=$1 curcontext=$curcontext state\n"
          "    local -a line names\n"
          "    local -A opt_args\n"
          "    names=(\"${@[2,-1]}\")\n"
          "    _arguments -C '(- *)'{-h,--help}'[Print this list]' '(- *)--usage[Print a short usage message]' \\\n"
          "        '1: :->name' '*:: :->rest' && return\n"
          "    case $state in\n"
          "    name) _describe -t commands command names ;;\n"
          "    rest) (( $+functions[_rapt_${prefix}_$words[1]] )) && _rapt_${prefix}_$words[1] ;;\n"
          "    esac\n"
          "}\n", stdout);
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        if (cli_commands[i].command)
            zsh_put_command(cli_commands[i].name, NULL, cli_commands[i].command);
        else
            zsh_put_parts(&cli_commands[i]);
    fputs("_rapt() {\n"
          "    local curcontext=$curcontext state\n"
          "    local -a line commands\n"
          "    local -A opt_args\n"
          "    commands=(", stdout);
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        put_described(cli_commands[i].name, cli_commands[i].meaning);
    fputs(" \\\n        'help:list the options of a command')\n"
          "    _arguments -C '(- *)'{-h,--help}'[List the commands]' '(- *)'{-V,--version}'[Print the version]' \\\n"
          "        '(- *)--completion[Print completions]:SHELL:(bash zsh fish)' '1: :->command' '*:: :->rest' && return\n"
          "    case $state in\n"
          "    command) _describe -t commands command commands ;;\n"
          "    rest)\n"
          "        if [[ $words[1] == help ]]; then\n"
          "            _describe -t commands command commands\n"
          "        elif (( $+functions[_rapt_$words[1]] )); then\n"
          "            _rapt_$words[1]\n"
          "        fi ;;\n"
          "    esac\n"
          "}\n"
          "if [[ $funcstack[1] == _rapt ]]; then _rapt \"$@\"; else compdef _rapt rapt; fi\n", stdout);
}
