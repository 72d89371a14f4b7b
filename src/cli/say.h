/* cli/say.h: lines on stderr with names or texts that may contain control characters. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdbool.h>
#include <stdio.h>

/* Prints to stderr, with '?' for characters that must not reach a terminal (base/quote.h), except newlines. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether a line on stderr can be erased and written anew: it is a terminal that knows "\r\033[K". */
bool cli_says_anew(void);

/* Prints one text to any file, with '?' for characters that must not reach a terminal, including newlines. */
void cli_print_clean(FILE *to, const char *text);

#endif
