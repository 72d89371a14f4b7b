/* cli/say.h: lines on stderr that name files, models or words of somebody else's. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdio.h>

/* Prints to stderr, with '?' for what must not reach a terminal (see base/quote.h), newlines excepted. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for one text in any file, newlines included in what is replaced. */
void cli_print_clean(FILE *to, const char *text);

#endif
