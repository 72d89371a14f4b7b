/* cli/usage.h: the options of a command, and messages about wrong options. argp parses; its own messages, three lines with the
 * argument unquoted, are not used. */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include <argp.h>

/* As argp_parse with `input` (argp needs a parser, or its children would not get it), and with -h, --help and --usage for
 * every command. Wrong options end the program: one line to stderr, exit status 2. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* In place of argp_error: 'rapt translate: MESSAGE (see `rapt translate --help`)', with control characters quoted, and exit
 * status 2. Does not return. */
void cli_usage_error(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif
