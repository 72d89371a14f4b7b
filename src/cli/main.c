/* cli/main.c: the program `rapt`: calls the command that is named. commands.c has the table of all. */
#include "rapt/base.h"

#include "cli/commands.h"
#include "cli/completion/completion.h"
#include "cli/group/launch.h"
#include "cli/start.h"

#include "base/quote.h"
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(FILE *to)
{
    fprintf(to, "Usage: rapt COMMAND [ARGUMENTS] [--options]\n"
                "Train and run Transformers on CPUs.\n\n");
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", cli_commands[i].name, cli_commands[i].meaning);
    fprintf(to, "\n`rapt help COMMAND` or `rapt COMMAND -h` lists a command's arguments and options; `rapt --version` prints the "
                "version,\n`rapt --completion SHELL` completions for bash, zsh or fish.\n"
                "Exit status: 0 success, 1 failure, 2 usage error, 128 + N after signal N (Ctrl-C: 130).\n");
}

static int unknown(const char *name)
{
    const char *names[CLI_COMMANDS];
    const launch l = launch_find();
    if (l.mpi && l.size != 1 && !launch_speaks(&l, true))
        return 2;
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        names[i] = cli_commands[i].name;
    const char *near = suggest_nearest(name, names, CLI_COMMANDS);
    fprintf(stderr, "rapt: there is no command \"%s\"", quote(name).text);
    if (strcmp(name, "bench") == 0)
        fprintf(stderr, " any more: `rapt-bench` measures, a program that a build makes beside rapt");
    else if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, " (see `rapt --help`)\n");
    if (l.mpi && l.size != 1)
        launch_leave(&l, 2);
    return 2;
}

static int run_command(int argc, char **argv)
{
    char title[64];
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        if (strcmp(argv[1], cli_commands[i].name) == 0) {
            snprintf(title, sizeof title, "rapt %s", argv[1]);
            if (strcmp(argv[1], "train") != 0 && start_refuses_group(title))
                return 2;
            argv[1] = title;
            return cli_commands[i].run(argc - 1, argv + 1);
        }
    return unknown(argv[1]);
}

static bool is_help(const char *option)
{
    return strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0 || strcmp(option, "-?") == 0;
}

/* `rapt help plot attention` is `rapt plot attention --help`. */
static int help(int argc, char **argv)
{
    char *asked[] = {argv[0], argc > 2 ? argv[2] : NULL, "--help", NULL, NULL};
    if (argc > 4) {
        fprintf(stderr, "rapt help: extra operand: takes a command and its subcommand (see `rapt --help`)\n");
        return 2;
    }
    if (argc < 3 || is_help(argv[2])) {
        print_help(stdout);
        return 0;
    }
    if (argc == 4) {
        asked[2] = argv[3];
        asked[3] = "--help";
    }
    return run_command(argc, asked);
}

int main(int argc, char **argv)
{
    start_program(&argc, &argv);
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (is_help(argv[1])) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("rapt %s\n", rapt_version());
        return 0;
    }
    if (strcmp(argv[1], "--completion") == 0)
        return completion_print(argc > 2 ? argv[2] : NULL);
    if (strcmp(argv[1], "serve") != 0) /* a server allocates the memory of a request beforehand */
        start_json();
    return run_command(argc, argv);
}
