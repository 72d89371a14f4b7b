/* base/quote.h: foreign text (keys, tensor names, values) made fit for a one-line message.
 * For the readers of files and options; not an escaping that can be read back. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct quoted {
    char text[100];
} quoted;

/* Whether a character must not reach a terminal as part of a message or a table: controls (C0 and C1), separators of lines, and
 * what changes the direction of the text after it. */
bool quote_is_unsafe(uint32_t code);

/* Puts a '?' for each such character, and for each byte that is not UTF-8. The text does not grow. */
void quote_clean(char *text);

/* `text` with such characters as '?', and cut with "..." where it is long (between UTF-8 characters).
 * Returned by value, so that `quote(name).text` stands directly among the arguments of rapt_fail. */
quoted quote(const char *text);

#endif
