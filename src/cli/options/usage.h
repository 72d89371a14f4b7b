/* cli/options/usage.h: messages about wrong use of a command. */
#ifndef CLI_OPTIONS_USAGE_H
#define CLI_OPTIONS_USAGE_H

enum { USAGE_STATUS = 2 }; /* exit status after wrong use */

/* The command that the messages name: "rapt translate". */
void usage_of(const char *command);

/* Prints 'rapt translate: MESSAGE (see `rapt translate --help`)' to stderr, with control characters quoted, and ends the program
 * with USAGE_STATUS. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
