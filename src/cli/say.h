/* cli/say.h: lines on stderr with names or texts that may contain control characters. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdio.h>

/* Prints to stderr, with '?' for what must not reach a terminal (see base/quote.h), newlines excepted. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one text to any file, with '?' for what must not reach a terminal, newlines included. */
void cli_print_clean(FILE *to, const char *text);

#endif
