/* base/quote.h: foreign text (keys, tensor names, values) made fit for a one-line message.
 * For the readers of files and options; not an escaping that can be read back. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct quoted {
    char text[100];
} quoted;

/* Whether a character must not reach a terminal as part of a message or a table: controls (C0 and C1), line separators, and
 * changes of direction. */
bool quote_is_unsafe(uint32_t code);

/* Puts a '?' for each such character, and for each byte that is not UTF-8. The text does not grow. */
void quote_clean(char *text);

/* `text` with '?' for unsafe characters, and truncated with "..." (between UTF-8 characters) if it is long. Returned by value, so
 * that `quote(name).text` can be an argument of rapt_fail. */
quoted quote(const char *text);
/* quote for `size` bytes, in which zero bytes are unsafe as well. */
quoted quote_bytes(const char *text, size_t size);

#endif
