/* cli/parts.h: commands that consist of parts with options of their own: `rapt tokenizer train`, `rapt plot attention`. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <stddef.h>

typedef struct cli_part {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "rapt COMMAND PART" */
} cli_part;

typedef struct cli_parts {
    const cli_part *list;
    size_t count;
    const char *wants;          /* "`train` or `info`": of the message where no part is named */
    const char *args_doc, *doc; /* of --help, as argp has them */
} cli_parts;

/* Runs the part that argv[1] names; the exit status. Anything else there is wrong usage (2) or a request for help. */
int cli_run_part(const cli_parts *parts, int argc, char **argv);

#endif
