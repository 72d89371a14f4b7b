/* cli/subcommands.h: commands that consist of parts with options of their own: `rapt tokenizer train`, `rapt plot attention`. */
#ifndef CLI_SUBCOMMANDS_H
#define CLI_SUBCOMMANDS_H

#include <stddef.h>

typedef struct cli_subcommand {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "rapt COMMAND PART" */
} cli_subcommand;

typedef struct cli_subcommands {
    const cli_subcommand *list;
    size_t count;
    const char *wants;          /* "`train` or `info`": of the message where no part is named */
    const char *args_doc, *doc; /* of --help, as argp has them */
} cli_subcommands;

/* Runs the part that argv[1] names; the exit status. Anything else there is wrong usage (2) or a request for help. */
int cli_run_subcommand(const cli_subcommands *subcommands, int argc, char **argv);

#endif
