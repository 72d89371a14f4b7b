/* base/quote.h: foreign text (keys, tensor names, values) made fit for a one-line message.
 * For the readers of files and options; not an escaping that can be read back. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

typedef struct quoted {
    char text[100];
} quoted;

/* `text` with control characters as '?', and cut with "..." where it is long (between UTF-8 characters).
 * Returned by value, so that `quote(name).text` stands directly among the arguments of rapt_fail. */
quoted quote(const char *text);

#endif
