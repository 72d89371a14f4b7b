/* cli/subcommands.h: commands with subcommands that have options of their own: `rapt tokenizer train`, `rapt plot attention`. */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

#include <stddef.h>

typedef struct cli_subcommand {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "rapt COMMAND SUBCOMMAND" */
} cli_subcommand;

typedef struct cli_subcommands {
    const cli_subcommand *list;
    size_t count;
    const char *wants;          /* "`train` or `info`": of the message where none is named */
    const char *args_doc, *doc; /* of --help, as argp has them */
} cli_subcommands;

/* Runs the subcommand that argv[1] names; the exit status. Anything else there is wrong usage (2) or a request for help. */
int subcommands_run(const cli_subcommands *subcommands, int argc, char **argv);

#endif
