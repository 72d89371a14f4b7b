/* cli/subcommands.h: commands whose subcommands have their own options: `rapt tokenizer train`, `rapt plot attention`. */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

#include "cli/options/options.h"

typedef struct cli_subcommand {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "rapt COMMAND SUBCOMMAND" */
    const cli_command *command;        /* its table of options */
} cli_subcommand;

typedef struct cli_subcommands {
    const cli_subcommand *list;
    size_t count;
    const char *wants;          /* "`train` or `info`", for the message if no subcommand is named */
    const char *operands, *about, *notes; /* for --help, as in a cli_command */
} cli_subcommands;

/* Runs the subcommand that argv[1] names and returns the exit status. Another argv[1] is wrong usage (2) or a request for
 * help. */
int subcommands_run(const cli_subcommands *subcommands, int argc, char **argv);

#endif
